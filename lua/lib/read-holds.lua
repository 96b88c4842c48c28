--- The hold keys of a reader: one for each entry, each with the lease. A reader without any counts no more.
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

--- Gives the key at least this much time. PEXPIRE comes first because it works without free memory.
local function keepHold(hold, leaseMs)
  local leftMs = redis.call('PTTL', hold)
  if leftMs < leaseMs and leftMs ~= -1 and redis.call('PEXPIRE', hold, leaseMs) == 0 then
    redis.pcall('SET', hold, '1', 'PX', leaseMs)
  end
end
