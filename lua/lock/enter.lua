--- Re-enters a lock that the owner holds: sets the hold count and extends the lock to at least the lease.
---
--- The count is absolute, so that a repeat changes nothing. A lost hold is not taken again.
---
--- @key lock     hash    owner -> hold count; its TTL is the lease
--- @arg owner    string
--- @arg count    integer
--- @arg leaseMs  ms
--- @returns { 'held' } | { 'lost' }
--- @include lib/raise-lease
if redis.pcall('HEXISTS', lock, owner) ~= 1 then
  return { 'lost' }
end
redis.call('HSET', lock, owner, count)
raiseLease(lock, leaseMs)
return { 'held' }
