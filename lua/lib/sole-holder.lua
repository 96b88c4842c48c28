--- Names the one holder of an exclusive lock and its hold count. A hash with more fields is no such lock,
--- and might be huge: it is not read.
local function soleHolder(lock)
  if redis.call('HLEN', lock) ~= 1 then
    return false, 0
  end
  local entry = redis.call('HGETALL', lock)
  return entry[1], tonumber(entry[2]) or 0
end
