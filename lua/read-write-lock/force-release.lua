--- Frees the lock if it is held in the given mode, whoever holds it, and wakes the waiters.
---
--- The answer is remembered for a while: a repeat must not free what somebody took in between. Hold keys of readers
--- are left to expire: without a field they mean nothing.
---
--- @key lock        hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key answer      string  what this very request was answered
--- @arg mode        string  read or write
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg message     string
--- @arg rememberMs  integer
--- @returns { 'released', announced } | { 'free' }
--- @include lib/announce
local answered = redis.call('GET', answer)
if answered == 'released' then
  return { 'released', 1 }
end
if answered == 'free' or redis.call('HGET', lock, 'mode') ~= mode then
  redis.pcall('SET', answer, 'free', 'PX', rememberMs)
  return { 'free' }
end
redis.call('DEL', lock)
redis.pcall('SET', answer, 'released', 'PX', rememberMs)
return { 'released', announce(publish, channel, message) }
