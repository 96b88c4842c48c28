--- The hold keys of a reader: one for each entry, each with the lease. A reader without hold keys no longer counts.
---
--- @include lib/raise-lease
local FOR_EVER_MS = 9007199254740991

--- The longest time that one of these keys has left; 0 when none exists.
local function longestHold(holds, first, last)
  local longestMs = 0
  for i = first, last do
    local leftMs = redis.call('PTTL', holds[i])
    if leftMs == -1 then
      return FOR_EVER_MS
    end
    longestMs = math.max(longestMs, leftMs)
  end
  return longestMs
end

--- Extends a hold key to at least this time, or creates it again; answers whether it exists. PEXPIRE comes first
--- because it works without free memory, which creating the key does not.
local function keepHold(hold, leaseMs)
  local leftMs = redis.call('PTTL', hold)
  local lease = string.format('%.0f', leaseMs)
  if leftMs < leaseMs and leftMs ~= -1 and redis.call('PEXPIRE', hold, lease) == 0 then
    return not redis.pcall('SET', hold, '1', 'PX', lease).err
  end
  return true
end

--- Extends the lock to at least the lease, and at least the time that these hold keys have left.
local function raiseToHolds(lock, leaseMs, holds, first, last)
  local longestMs = longestHold(holds, first, last)
  raiseLease(lock, longestMs == FOR_EVER_MS and leaseMs or math.max(leaseMs, longestMs))
end

--- Removes the hold keys from this one on.
local function removeHolds(holds, first)
  for i = first, #holds do
    redis.call('DEL', holds[i])
  end
end
