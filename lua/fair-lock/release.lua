--- Ends the owner's hold or its place in the queue for good, and wakes the head of the queue.
---
--- A tombstone keeps the outcome for a while: a repeat gets the same answer, and an acquisition of this owner that was
--- sent before but arrives later gets neither the lock nor a place. An owner without a hold releases nothing. HDEL and
--- LREM come first because they work without free memory. HDEL removes the whole lock, which has no other field.
---
--- @key lock        hash    owner -> hold count; its TTL is the lease
--- @key queue       list    the waiters in order of arrival
--- @key timeouts    zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen        hash    waiter of holdfast -> its last sign of life
--- @key ended       string  tombstone: exists once this owner's hold or wait has ended
--- @arg owner       string
--- @arg silentMs    integer how long the queue as a whole may be silent
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string  a waiter listens on this one, followed by a colon and its owner
--- @arg rememberMs  ms
--- @returns { 'released', announced } | { 'left', announced } | { 'lost' }
--- @include lib/now
--- @include lib/fair-queue
--- @include lib/in-charge
if redis.pcall('HDEL', lock, owner) == 1 then
  redis.pcall('SET', ended, 'released', 'PX', rememberMs)
  if redis.call('EXISTS', queue) == 0 then
    return { 'released', 1 }
  end
  local head = sweepQueue(queue, timeouts, seen, false, nowMs(), silentMs)
  return { 'released', callHead(head, publish, channel) }
end
assertInCharge(lock)
if redis.call('GET', ended) == 'released' then
  return { 'released', 1 }
end
local left = leaveQueue(queue, timeouts, seen, owner)
redis.pcall('SET', ended, 'lost', 'PX', rememberMs)
if not left then
  return { 'lost' }
end
local head = sweepQueue(queue, timeouts, seen, false, nowMs(), silentMs)
if redis.call('EXISTS', lock) == 1 then
  return { 'left', 1 }
end
return { 'left', callHead(head, publish, channel) }
