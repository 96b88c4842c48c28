--- Does what fair-lock/acquire does, for clients with the guard: during a grace, the owner still queues up and gives
--- signs of life.
---
--- All other locks are acquired behind guard/check or guard/settled, which end the attempt of a new owner. The waiters
--- of a fair lock would be silent during a grace, and would lose their places to each other.
---
--- @key lock       hash    owner -> hold count; its TTL is the lease
--- @key queue      list    the waiters in order of arrival
--- @key timeouts   zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen       hash    waiter of holdfast -> its last sign of life
--- @key ended      string  tombstone: exists once this owner's hold or wait has ended
--- @key guard      string  the last server seen in charge, and the end of its grace
--- @arg owner      string
--- @arg leaseMs    ms
--- @arg waitMs     integer added to the timeouts of the waiters behind; 0: the owner does not queue up
--- @arg silentMs   integer how long the waiter may be silent
--- @arg publish    string  PUBLISH or SPUBLISH
--- @arg channel    string  a waiter listens on this one, followed by a colon and its owner
--- @arg graceMs    integer
--- @arg trusted    string  ids of servers that have been in charge for longer than a grace
--- @returns { 'held' } | { 'queued', lookAgainMs } | { 'busy', remainingMs } | { 'ended' } | { 'grace', remainingMs, server: string }
--- @include lib/grace
--- @include lib/fair-turn
local keptOutMs, server = graceLeft(guard, graceMs, trusted)
local turn = takeTurn(
  lock, queue, timeouts, seen, ended, owner, leaseMs, waitMs, silentMs, publish, channel, keptOutMs > 0
)
if keptOutMs > 0 and not turn.err then
  return { 'grace', keptOutMs, server }
end
return turn
