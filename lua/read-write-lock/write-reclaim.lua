--- Restores a write hold that a promoted or restarted server has forgotten.
---
--- @key lock      hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended     string  tombstone: exists once this owner's hold has ended
--- @key guard     string  the last server seen in charge, and the end of its grace
--- @arg owner     string
--- @arg reader    string  the field of the same owner's read hold, or empty
--- @arg count     integer
--- @arg leaseMs   integer
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'held' } | { 'taken' } | { 'lost' }
--- @include lib/raise-lease
--- @include lib/grant-lease
--- @include lib/may-reclaim
if redis.call('HEXISTS', lock, owner) == 1 then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
if not mayReclaim(ended, guard, graceMs, trusted) then
  return { 'lost' }
end
-- The owner's read hold may have been restored before: it is then the only field beside the mode.
local fields = redis.call('HLEN', lock)
local readsAlone = fields == 2 and reader ~= '' and redis.call('HEXISTS', lock, reader) == 1
if fields > 0 and not readsAlone then
  return { 'taken' }
end
redis.call('HSET', lock, 'mode', 'write', owner, count)
grantLease(lock, leaseMs, function()
  if readsAlone then
    redis.call('HSET', lock, 'mode', 'read')
    redis.call('HDEL', lock, owner)
  else
    redis.call('DEL', lock)
  end
end)
return { 'held' }
