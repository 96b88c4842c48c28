--- Gives a holder back what a server that took over, or started anew, does not know of. Only within the grace,
--- when nobody else can have been let in; a hold that was ended meanwhile does not begin again.
---
--- @key lock      string  the holder's token; its TTL is the lease
--- @key ended     string  there once this owner's hold is over
--- @key guard     string  which server was last reckoned with, and until when its grace lasts
--- @arg owner     string
--- @arg leaseMs   integer
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'held' } | { 'taken' } | { 'lost' }
--- @include lib/raise-lease
--- @include lib/grace
if leaseMs < 1 or graceMs < 1 then
  return redis.error_reply('ERR a lease and a grace must be positive')
end
local holder = redis.call('GET', lock)
if holder == owner then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
if redis.call('EXISTS', ended) == 1 or graceLeft(guard, graceMs, trusted) == 0 then
  return { 'lost' }
end
if holder then
  return { 'taken' }
end
redis.call('SET', lock, owner, 'PX', leaseMs)
return { 'held' }
