--- Takes the plain lock for a new owner, or says how long it is taken.
---
--- @key lock     string  the holder's token; its TTL is the lease
--- @key ended    string  tombstone: exists once this owner's hold has ended
--- @arg owner    string
--- @arg leaseMs  ms
--- @returns { 'held' } as nil | { 'busy', remainingMs } as integer | { 'ended' }
--- @guarded
--- @include lib/raise-lease
if redis.call('EXISTS', lock, ended) == 0 then
  redis.call('SET', lock, owner, 'PX', leaseMs)
  return nil
end
local holder = redis.call('GET', lock)
if holder == owner then
  raiseLease(lock, leaseMs)
  return nil
end
if not holder then
  return { 'ended' }
end
return redis.call('PTTL', lock)
