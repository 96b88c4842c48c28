--- Gives a holder back what a server that took over, or started anew, does not know of. Only within the grace,
--- when nobody else can have been let in; a hold that was ended meanwhile does not begin again.
---
--- @key lock      hash    owner -> hold count; its TTL is the lease
--- @key ended     string  there once this owner's hold is over
--- @key guard     string  which server was last reckoned with, and until when its grace lasts
--- @arg owner     string
--- @arg count     integer
--- @arg leaseMs   integer
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'held' } | { 'taken' } | { 'lost' }
--- @include lib/raise-lease
--- @include lib/grant-lease
--- @include lib/grace
if leaseMs < 1 or graceMs < 1 or count < 1 then
  return redis.error_reply('ERR a lease, a grace and a count must be positive')
end
if redis.call('HEXISTS', lock, owner) == 1 then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
if redis.call('EXISTS', ended) == 1 or graceLeft(guard, graceMs, trusted) == 0 then
  return { 'lost' }
end
if redis.call('EXISTS', lock) == 1 then
  return { 'taken' }
end
redis.call('HSET', lock, owner, count)
grantLease(lock, leaseMs, function()
  redis.call('DEL', lock)
end)
return { 'held' }
