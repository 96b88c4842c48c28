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
--- @arg leaseMs    ms
--- @arg waitMs     integer what the waiter adds to the times of those behind; 0: it does not queue up
--- @arg silentMs   integer how long the waiter may go unheard
--- @arg publish    string  PUBLISH or SPUBLISH
--- @arg channel    string  that of a waiter is this one, a colon and its owner
--- @returns { 'held' } | { 'queued', lookAgainMs } | { 'busy', remainingMs } | { 'ended' }
--- @include lib/fair-turn
return takeTurn(
  lock, queue, timeouts, seen, ended, owner, leaseMs, waitMs, silentMs, publish, channel, false
)
