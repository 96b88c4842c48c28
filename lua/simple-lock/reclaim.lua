--- Restores a hold that a promoted or restarted server has forgotten.
---
--- @key lock      string  the holder's token; its TTL is the lease
--- @key ended     string  tombstone: exists once this owner's hold has ended
--- @key guard     string  the last server seen in charge, and the end of its grace
--- @arg owner     string
--- @arg leaseMs   ms
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'held' } | { 'taken' } | { 'lost' }
--- @include lib/raise-lease
--- @include lib/may-reclaim
local holder = redis.call('GET', lock)
if holder == owner then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
if not mayReclaim(ended, guard, graceMs, trusted) then
  return { 'lost' }
end
if holder then
  return { 'taken' }
end
redis.call('SET', lock, owner, 'PX', leaseMs)
return { 'held' }
