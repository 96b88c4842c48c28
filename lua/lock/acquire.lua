--- Takes the lock for a new owner, or says how long it is taken.
---
--- The lease is checked first: PEXPIRE with less than 1 would delete what was just granted.
--- Delivered twice, it still makes one hold; delivered after that hold was released or given up, it makes none.
---
--- @key lock     hash    owner -> hold count; its TTL is the lease
--- @key ended    string  there once this owner's hold is over
--- @arg owner    string
--- @arg leaseMs  integer
--- @returns { 'held' } | { 'busy', remainingMs } | { 'ended' }
--- @include lib/raise-lease
--- @include lib/grant-lease
if leaseMs < 1 then
  return redis.error_reply('ERR a lease must be positive')
end
if redis.call('EXISTS', lock) == 0 then
  if redis.call('EXISTS', ended) == 1 then
    return { 'ended' }
  end
  redis.call('HSET', lock, owner, 1)
  grantLease(lock, leaseMs, function()
    redis.call('DEL', lock)
  end)
  return { 'held' }
end
if redis.call('HEXISTS', lock, owner) == 1 then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
return { 'busy', redis.call('PTTL', lock) }
