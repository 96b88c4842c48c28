--- Re-enters a lock that the owner holds: sets the hold count and gives it at least the lease.
---
--- The count is absolute, so that a repeat changes nothing. A hold that is gone is not taken anew.
---
--- @key lock     hash    owner -> hold count; its TTL is the lease
--- @arg owner    string
--- @arg count    integer
--- @arg leaseMs  integer
--- @returns { 'held' } | { 'lost' }
--- @include lib/raise-lease
if leaseMs < 1 then
  return redis.error_reply('ERR a lease must be positive')
end
if redis.pcall('HEXISTS', lock, owner) ~= 1 then
  return { 'lost' }
end
redis.call('HSET', lock, owner, count)
raiseLease(lock, leaseMs)
return { 'held' }
