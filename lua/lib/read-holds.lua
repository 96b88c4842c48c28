--- The hold keys of a reader: one for each entry, each with the lease. A reader without any counts no more.
---
--- @include lib/raise-lease
local FOR_EVER_MS = 9007199254740991

--- The longest time that one of these keys has left; 0 when none is there.
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

--- Gives the key at least this much time; answers whether it is there. PEXPIRE comes first because it works
--- without free memory, which making it anew does not.
local function keepHold(hold, leaseMs)
  local leftMs = redis.call('PTTL', hold)
  local lease = string.format('%.0f', leaseMs)
  if leftMs < leaseMs and leftMs ~= -1 and redis.call('PEXPIRE', hold, lease) == 0 then
    return not redis.pcall('SET', hold, '1', 'PX', lease).err
  end
  return true
end

--- Gives the lock at least the lease, and no less time than these hold keys have.
local function raiseToHolds(lock, leaseMs, holds, first, last)
  local longestMs = longestHold(holds, first, last)
  raiseLease(lock, longestMs == FOR_EVER_MS and leaseMs or math.max(leaseMs, longestMs))
end
