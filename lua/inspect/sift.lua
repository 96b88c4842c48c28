--- Says which of these keys may be locks or synchronizers, for people: most keys of a server are other data, and this
--- rules them out many at a time. What it names has to be described to know. Changes nothing.
---
--- A string counts if it is a short whole number, or an owner field of Redisson or holdfast that expires. A hash counts
--- if it has one field, a `mode` or a `rate`. A key that has just gone counts: its queue or its token may still exist.
---
--- @keys found    any     of any type
--- @returns { 'sifted', positions: integer... }
local MOST_DIGITS = 16
local LONGEST_OWNER = 128

local function isHash(key)
  return redis.call('HLEN', key) == 1
    or redis.call('HEXISTS', key, 'mode') == 1
    or redis.call('HEXISTS', key, 'rate') == 1
end

local function isString(key)
  local size = redis.call('STRLEN', key)
  if size == 0 or size > LONGEST_OWNER then
    return false
  end
  local text = redis.call('GET', key)
  if size <= MOST_DIGITS and string.find(text, '^%-?%d+$') then
    return true
  end
  return string.find(text, '^%x+%-%x+%-%x+%-%x+%-%x+:%d') and redis.call('PTTL', key) >= 0
end

local reply = { 'sifted' }
for position, key in ipairs(found) do
  local kind = redis.call('TYPE', key).ok
  if kind == 'none' or kind == 'hash' and isHash(key) or kind == 'string' and isString(key) then
    reply[#reply + 1] = position
  end
end
return reply
