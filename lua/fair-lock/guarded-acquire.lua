--- What fair-lock/acquire does, for clients with the guard: while strangers are kept out, the owner queues up, or
--- tells that it lives, all the same.
---
--- Every lock but this one is asked for behind guard/check, which ends the attempt of a stranger. Waiters of a fair
--- lock would not be heard during a grace, and would lose their places to each other.
---
--- @key lock       hash    owner -> hold count; its TTL is the lease
--- @key queue      list    the waiters, first come first
--- @key timeouts   zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen       hash    waiter of ours -> when it was heard of
--- @key ended      string  there once this owner's hold or wait is over
--- @key guard      string  which server was last reckoned with, and until when its grace lasts
--- @arg owner      string
--- @arg leaseMs    ms
--- @arg waitMs     integer what the waiter adds to the times of those behind; 0: it does not queue up
--- @arg silentMs   integer how long the waiter may go unheard
--- @arg publish    string  PUBLISH or SPUBLISH
--- @arg channel    string  that of a waiter is this one, a colon and its owner
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
