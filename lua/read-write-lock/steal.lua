--- Takes the lock for a new writer whoever holds it. A key that is no read/write lock is left alone.
---
--- Delivered twice, it still makes one hold; delivered after that hold was released or given up, it takes nothing.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended    string  there once this owner's hold is over
--- @arg owner    string
--- @arg leaseMs  integer
--- @returns { 'held' } | { 'ended' }
--- @include lib/raise-lease
--- @include lib/grant-lease
if leaseMs < 1 then
  return redis.error_reply('ERR a lease must be positive')
end
if redis.call('HEXISTS', lock, owner) == 1 then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
if redis.call('EXISTS', ended) == 1 then
  return { 'ended' }
end
if redis.call('HEXISTS', lock, 'mode') ~= redis.call('EXISTS', lock) then
  return redis.error_reply('ERR the key holds a lock of another kind')
end
redis.call('DEL', lock)
redis.call('HSET', lock, 'mode', 'write', owner, 1)
grantLease(lock, leaseMs, function()
  redis.call('DEL', lock)
end)
return { 'held' }
