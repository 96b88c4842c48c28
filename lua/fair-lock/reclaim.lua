--- Restores a hold that a promoted or restarted server has forgotten. The holder leaves the queue, where that server
--- may still have it: a holder must not be woken as a waiter.
---
--- @key lock      hash    owner -> hold count; its TTL is the lease
--- @key queue     list    the waiters in order of arrival
--- @key timeouts  zset    waiter -> when it counts as dead by Redisson's rule
--- @key seen      hash    waiter of holdfast -> its last sign of life
--- @key ended     string  tombstone: exists once this owner's hold or wait has ended
--- @key guard     string  the last server seen in charge, and the end of its grace
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
