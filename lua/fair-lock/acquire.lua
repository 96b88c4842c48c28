--- Takes the lock when it is free and nobody waits before the owner; otherwise queues up, or does not wait.
---
--- Delivered twice, it makes one hold or one place in the queue; delivered after the owner has ended, none.
--- Every delivery tells that a waiter lives, and moves the time at which Redisson drops it along with the
--- clock. What a waiter gets to know is when to look again at the latest: the head when the lease ends, the
--- next behind it when a head that does not take its turn counts as dead. -1: nothing is worth looking for.
---
--- @key lock       hash    owner -> hold count; its TTL is the lease
--- @key queue      list    the waiters, first come first
--- @key timeouts   zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen       hash    waiter of ours -> when it was heard of
--- @key ended      string  there once this owner's hold or wait is over
--- @arg owner      string
--- @arg leaseMs    integer
--- @arg waitMs     integer what the waiter adds to the times of those behind; 0: it does not queue up
--- @arg silentMs   integer how long the waiter may go unheard
--- @arg publish    string  PUBLISH or SPUBLISH
--- @arg channel    string  that of a waiter is this one, a colon and its owner
--- @returns { 'held' } | { 'queued', lookAgainMs } | { 'busy', remainingMs } | { 'ended' }
--- @include lib/raise-lease
--- @include lib/now
--- @include lib/fair-queue
--- @include lib/fair-place
--- @include lib/grant-lease
if leaseMs < 1 then
  return redis.error_reply('ERR a lease must be positive')
end
if waitMs < 0 or silentMs < 1 then
  return redis.error_reply('ERR a wait must not be negative, and a waiter may be silent for a while')
end
if redis.call('HEXISTS', lock, owner) == 1 then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
if redis.call('EXISTS', ended) == 1 then
  return { 'ended' }
end
local now = nowMs()
local head, swept = sweepQueue(queue, timeouts, seen, owner, now, silentMs)
local remainingMs = redis.call('PTTL', lock)
local isFree = remainingMs == -2
if isFree and (not head or head == owner) then
  leaveQueue(queue, timeouts, seen, owner)
  redis.call('HSET', lock, owner, 1)
  grantLease(lock, leaseMs, function()
    redis.call('DEL', lock)
  end)
  return { 'held' }
end
if isFree and swept then
  callHead(head, publish, channel)
end
if waitMs == 0 then
  return { 'busy', remainingMs }
end
local place = redis.call('LPOS', queue, owner)
if place then
  keepPlace(timeouts, seen, owner, now, math.max(0, remainingMs), waitMs, silentMs)
else
  place = takePlace(queue, timeouts, seen, owner, now, math.max(0, remainingMs), waitMs, silentMs)
end
if place == 0 then
  return { 'queued', remainingMs }
end
if place == 1 and isFree then
  return { 'queued', deadInMs(timeouts, seen, head, now) }
end
return { 'queued', -1 }
