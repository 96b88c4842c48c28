--- Frees the plain lock whoever holds it, and wakes the waiters. Anything but a string is left alone.
---
--- The answer is remembered for a while: a repeat must not free what somebody took in between.
---
--- @key lock        string  the holder's token; its TTL is the lease
--- @key answer      string  what this very request was answered
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  integer
--- @returns { 'released', announced } | { 'free' }
--- @include lib/announce
local answered = redis.call('GET', answer)
if answered == 'released' then
  return { 'released', 1 }
end
if answered == 'free' or not redis.call('GET', lock) then
  redis.pcall('SET', answer, 'free', 'PX', rememberMs)
  return { 'free' }
end
redis.call('DEL', lock)
redis.pcall('SET', answer, 'released', 'PX', rememberMs)
return { 'released', announce(publish, channel, '0') }
