--- Gives a holder back what a server that took over, or started anew, does not know of.
---
--- @key lock      string  the holder's token; its TTL is the lease
--- @key ended     string  there once this owner's hold is over
--- @key guard     string  which server was last reckoned with, and until when its grace lasts
--- @arg owner     string
--- @arg leaseMs   ms
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'held' } | { 'taken' } | { 'lost' }
--- @include lib/raise-lease
--- @include lib/come-back
local holder = redis.call('GET', lock)
if holder == owner then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
if not mayComeBack(ended, guard, graceMs, trusted) then
  return { 'lost' }
end
if holder then
  return { 'taken' }
end
redis.call('SET', lock, owner, 'PX', leaseMs)
return { 'held' }
