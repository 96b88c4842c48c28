--- Ends what the owner has here for good, its hold or its place in the queue, and calls the next in line.
---
--- What happened is remembered for a while: a repeat gets the same answer, and an acquisition of this owner
--- that was sent before but arrives after takes neither the lock nor a place. Who holds nothing releases
--- nothing. DEL and LREM come first because they work without free memory.
---
--- @key lock        hash    owner -> hold count; its TTL is the lease
--- @key queue       list    the waiters, first come first
--- @key timeouts    zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen        hash    waiter of ours -> when it was heard of
--- @key ended       string  there once this owner's hold or wait is over
--- @arg owner       string
--- @arg silentMs    integer how long a queue as a whole may go unheard
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string  that of a waiter is this one, a colon and its owner
--- @arg rememberMs  ms
--- @returns { 'released', announced } | { 'left', announced } | { 'lost' }
--- @include lib/now
--- @include lib/fair-queue
if redis.pcall('HEXISTS', lock, owner) == 1 then
  redis.call('DEL', lock)
  redis.pcall('SET', ended, 'released', 'PX', rememberMs)
  local head = sweepQueue(queue, timeouts, seen, false, nowMs(), silentMs)
  return { 'released', callHead(head, publish, channel) }
end
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
