--- Reads the value and the token it was written with.
---
--- @key register   hash    value, its token, the newest token seen, and the last write of each writer
--- @returns { 'empty' } | { 'value', value: string, token }
local found = redis.call('HMGET', register, 'value', 'token')
if not found[1] then
  return { 'empty' }
end
return { 'value', found[1], found[2] or '0' }
