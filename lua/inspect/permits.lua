--- Lists the permits of a semaphore with leases, for people. Changes nothing: a permit whose lease has ended counts as
--- free, though no script has freed it yet.
---
--- Ids are answered as hex text; versions of Redisson before 3.17 keep them as such. The first MOST_PERMITS are named,
--- each with the milliseconds left, -1 for a permit without expiry.
---
--- @key permits  string  the number of free permits
--- @key ends     zset    permit id -> end of its lease
--- @returns { 'permits', free, taken, list: string... } | { 'missing' }
--- @include lib/expiring-permits
local MOST_PERMITS = 1000

local free = freePermits(permits)
if redis.call('EXISTS', permits) == 0 or not free then
  return { 'missing' }
end
local now = string.format('%.0f', nowMs())
local expired = #redis.call('ZRANGEBYSCORE', ends, '-inf', now)
local reply = { 'permits', string.format('%.0f', free + expired), redis.call('ZCARD', ends) - expired }
local taken = redis.call('ZRANGEBYSCORE', ends, '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', 0, MOST_PERMITS)
for i = 1, #taken, 2 do
  local id = taken[i]
  if #id == 16 then
    id = string.gsub(id, '.', function(byte)
      return string.format('%02x', string.byte(byte))
    end)
  end
  local endsMs = tonumber(taken[i + 1])
  reply[#reply + 1] = id
  reply[#reply + 1] = string.format('%.0f', endsMs >= PERMANENT and -1 or endsMs - tonumber(now))
end
return reply
