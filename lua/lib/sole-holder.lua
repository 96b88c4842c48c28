--- Answers the only holder of an exclusive lock and its hold count; false if the hash is no such lock. A hash with more
--- fields might be huge: it is not read.
---
--- @include lib/is-hold
local function soleHolder(lock)
  if redis.call('HLEN', lock) ~= 1 then
    return false, 0
  end
  local entry = redis.call('HGETALL', lock)
  if not isHold(entry[1], entry[2], redis.call('PTTL', lock) >= 0) then
    return false, 0
  end
  return entry[1], tonumber(entry[2])
end
