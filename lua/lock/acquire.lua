--- Takes the lock for a new owner, or says how long it is taken.
---
--- Delivered twice, it makes one hold; delivered after that hold was released or given up, none.
---
--- @key lock     hash    owner -> hold count; its TTL is the lease
--- @key ended    string  tombstone: exists once this owner's hold has ended
--- @arg owner    string
--- @arg leaseMs  ms
--- @returns { 'held' } as nil | { 'busy', remainingMs } as integer | { 'ended' }
--- @guarded
--- @include lib/raise-lease
--- @include lib/first-lease
if redis.call('EXISTS', lock, ended) == 0 then
  redis.call('HSET', lock, owner, 1)
  firstLease(lock, leaseMs)
  return nil
end
if redis.call('HEXISTS', lock, owner) == 1 then
  raiseLease(lock, leaseMs)
  return nil
end
local remainingMs = redis.call('PTTL', lock)
if remainingMs == -2 then
  return { 'ended' }
end
return remainingMs
