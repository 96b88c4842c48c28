--- Gives a holder back what a server that took over, or started anew, does not know of. There it may still be
--- waiting: who holds the lock must not be called to it.
---
--- @key lock      hash    owner -> hold count; its TTL is the lease
--- @key queue     list    the waiters, first come first
--- @key timeouts  zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen      hash    waiter of ours -> when it was heard of
--- @key ended     string  there once this owner's hold or wait is over
--- @key guard     string  which server was last reckoned with, and until when its grace lasts
--- @arg owner     string
--- @arg count     integer
--- @arg leaseMs   ms
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'held' } | { 'taken' } | { 'lost' }
--- @include lib/fair-queue
--- @include lib/reclaim-hold
local answer = reclaimHold(lock, owner, count, leaseMs, ended, guard, graceMs, trusted)
if answer[1] == 'held' then
  leaveQueue(queue, timeouts, seen, owner)
end
return answer
