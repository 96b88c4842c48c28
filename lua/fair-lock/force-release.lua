--- Ends the hold of the named holder, and calls the next in line. Every other holder is left alone.
---
--- The answer is remembered: a thread of Redisson comes back under the same field, and a repeat must not end its next
--- hold.
---
--- @key lock        hash    owner -> hold count; its TTL is the lease
--- @key queue       list    the waiters, first come first
--- @key timeouts    zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen        hash    waiter of ours -> when it was heard of
--- @key answer      string  what this very request was answered
--- @arg holder      string  who held the lock when the call was made
--- @arg silentMs    integer how long a queue as a whole may go unheard
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string  that of a waiter is this one, a colon and its owner
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
