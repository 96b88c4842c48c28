--- Takes the lock if it is free and no waiter is ahead of the owner; otherwise queues up, unless `waitMs` is 0.
---
--- Delivered twice, it makes one hold or one place in the queue; delivered after the owner has ended, none. Every
--- delivery is a sign of life of the waiter, and postpones the time at which Redisson drops it. The reply says when the
--- waiter should look again at the latest: the head when the lease ends, the waiter behind it when a head that does not
--- take its turn counts as dead. -1: there is no such time.
---
--- @key lock       hash    owner -> hold count; its TTL is the lease
--- @key queue      list    the waiters in order of arrival
--- @key timeouts   zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen       hash    waiter of holdfast -> its last sign of life
--- @key ended      string  tombstone: exists once this owner's hold or wait has ended
--- @arg owner      string
--- @arg leaseMs    ms
--- @arg waitMs     integer added to the timeouts of the waiters behind; 0: the owner does not queue up
--- @arg silentMs   integer how long the waiter may be silent
--- @arg publish    string  PUBLISH or SPUBLISH
--- @arg channel    string  a waiter listens on this one, followed by a colon and its owner
--- @returns { 'held' } | { 'queued', lookAgainMs } | { 'busy', remainingMs } | { 'ended' }
--- @include lib/fair-turn
return takeTurn(
  lock, queue, timeouts, seen, ended, owner, leaseMs, waitMs, silentMs, publish, channel, false
)
