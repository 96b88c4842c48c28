--- Ends the hold of the named holder and wakes the head of the queue. Any other holder is left alone.
---
--- The answer is remembered: a Redisson thread uses the same field for every hold, and a repeat must not end its next
--- hold.
---
--- @key lock        hash    owner -> hold count; its TTL is the lease
--- @key queue       list    the waiters in order of arrival
--- @key timeouts    zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen        hash    waiter of holdfast -> its last sign of life
--- @key answer      string  the remembered reply to this request
--- @arg holder      string  the holder at the time of the call
--- @arg silentMs    integer how long the queue as a whole may be silent
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string  a waiter listens on this one, followed by a colon and its owner
--- @arg rememberMs  ms
--- @returns { 'ended', announced }
--- @include lib/now
--- @include lib/fair-queue
--- @include lib/full-memory
--- @include lib/remember
local before = recall(answer)
if before then
  return before
end
ignoreFullMemory(answer)
local reply = { 'ended', 1 }
if redis.call('HDEL', lock, holder) == 1 then
  local head = sweepQueue(queue, timeouts, seen, false, nowMs(), silentMs)
  reply[2] = callHead(head, publish, channel)
end
remember(answer, rememberMs, reply)
return reply
