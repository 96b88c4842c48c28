--- The value and the token it was written with.
---
--- @key register   hash    value, and the token and number of the write it comes from
--- @returns { 'empty' } | { 'value', value: string, token }
local found = redis.call('HMGET', register, 'value', 'token')
if not found[1] then
  return { 'empty' }
end
return { 'value', found[1], found[2] or '0' }
