--- Frees the lock whoever holds it, and calls the next in line. Anything but a hash is left alone.
---
--- The answer is remembered for a while: a repeat must not free what somebody took in between.
---
--- @key lock        hash    owner -> hold count; its TTL is the lease
--- @key queue       list    the waiters, first come first
--- @key timeouts    zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen        hash    waiter of ours -> when it was heard of
--- @key answer      string  what this very request was answered
--- @arg silentMs    integer how long a queue as a whole may go unheard
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string  that of a waiter is this one, a colon and its owner
--- @arg rememberMs  integer
--- @returns { 'released', announced } | { 'free' }
--- @include lib/now
--- @include lib/fair-queue
local answered = redis.call('GET', answer)
if answered == 'released' then
  return { 'released', 1 }
end
if answered == 'free' or redis.call('HLEN', lock) == 0 then
  redis.pcall('SET', answer, 'free', 'PX', rememberMs)
  return { 'free' }
end
redis.call('DEL', lock)
redis.pcall('SET', answer, 'released', 'PX', rememberMs)
local head = sweepQueue(queue, timeouts, seen, false, nowMs(), silentMs)
return { 'released', callHead(head, publish, channel) }
