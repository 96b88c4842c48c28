--- Takes the plain lock for a new owner, or says how long it is taken.
---
--- @key lock     string  the holder's token; its TTL is the lease
--- @key ended    string  there once this owner's hold is over
--- @arg owner    string
--- @arg leaseMs  integer
--- @returns { 'held' } | { 'busy', remainingMs } | { 'ended' }
--- @include lib/raise-lease
if leaseMs < 1 then
  return redis.error_reply('ERR a lease must be positive')
end
local holder = redis.call('GET', lock)
if holder == owner then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
if holder then
  return { 'busy', redis.call('PTTL', lock) }
end
if redis.call('EXISTS', ended) == 1 then
  return { 'ended' }
end
redis.call('SET', lock, owner, 'NX', 'PX', leaseMs)
return { 'held' }
