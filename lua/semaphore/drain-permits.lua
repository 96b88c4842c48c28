--- Takes all free permits and says how many they were. A TTL stays; a negative number becomes 0.
---
--- The value goes back to the server as text, so that no large number is rounded on the way.
---
--- @key permits     string  the number of free permits
--- @key answer      string  the remembered reply to this request
--- @arg rememberMs  ms
--- @returns { 'drained', count }
--- @include lib/remember
local before = recall(answer)
if before then
  return before
end
local count = redis.call('GET', permits) or '0'
if count ~= '0' then
  redis.call('DECRBY', permits, count)
end
local reply = { 'drained', count }
remember(answer, rememberMs, reply)
return reply
