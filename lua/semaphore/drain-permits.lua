--- Takes all permits that are free and says how many they were. A TTL stays; a debt is forgiven.
---
--- The value goes back to the server as the text it is, so that no large number is rounded on the way.
---
--- @key permits     string  how many are free
--- @key answer      string  what this very request was answered
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
