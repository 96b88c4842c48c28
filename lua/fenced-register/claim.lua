--- Reads the value for a caller that will write another: from now on older tokens are refused.
---
--- @key register   hash    value, its token, the newest token seen, and the last write of each writer
--- @arg token      integer
--- @returns { 'empty' } | { 'value', value: string, token } | { 'stale', token }
--- @include lib/show-token
local newest = showToken(register, token)
if token < newest then
  return { 'stale', string.format('%.0f', newest) }
end
local found = redis.call('HMGET', register, 'value', 'token')
if not found[1] then
  return { 'empty' }
end
return { 'value', found[1], found[2] or '0' }
