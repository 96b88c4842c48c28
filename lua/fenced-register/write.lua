--- Writes a value, unless a newer token has been seen.
---
--- Every writer numbers its writes, so that a write delivered again, or late, does not undo the next.
---
--- @key register   hash    value, its token, the newest token seen, and the last write of each writer
--- @arg value      string
--- @arg token      integer
--- @arg writer     string
--- @arg sequence   integer
--- @returns { 'written' } | { 'stale', token }
--- @include lib/show-token
local newest = showToken(register, token)
if token < newest then
  return { 'stale', string.format('%.0f', newest) }
end
local own = 'writer:' .. writer
if sequence > (tonumber(redis.call('HGET', register, own)) or 0) then
  local numbers = { string.format('%.0f', token), string.format('%.0f', sequence) }
  redis.call('HSET', register, 'value', value, 'token', numbers[1], own, numbers[2])
end
return { 'written' }
