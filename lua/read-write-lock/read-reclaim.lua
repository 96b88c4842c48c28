--- Restores a read hold that a promoted or restarted server has forgotten.
---
--- @key lock      hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended     string  tombstone: exists once this owner's hold has ended
--- @key guard     string  the last server seen in charge, and the end of its grace
--- @keys holds    string  the owner's hold keys, one for each entry
--- @arg owner     string
--- @arg writer    string  the field of the same owner's write hold, or empty
--- @arg leaseMs   integer
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'held' } | { 'taken' } | { 'lost' }
--- @include lib/read-holds
--- @include lib/grant-lease
--- @include lib/may-reclaim
if redis.call('HEXISTS', lock, owner) == 1 then
  for _, hold in ipairs(holds) do
    keepHold(hold, leaseMs)
  end
  raiseToHolds(lock, leaseMs, holds, 1, #holds)
  return { 'held' }
end
if not mayReclaim(ended, guard, graceMs, trusted) then
  return { 'lost' }
end
local mode = redis.call('HGET', lock, 'mode')
if mode ~= 'read' and mode ~= 'write' and redis.call('EXISTS', lock) == 1 then
  return redis.error_reply('ERR the key holds a lock of another kind, or no lock')
end
if mode == 'write' and (writer == '' or redis.call('HEXISTS', lock, writer) == 0) then
  return { 'taken' }
end
if mode then
  redis.call('HSET', lock, owner, #holds)
else
  redis.call('HSET', lock, 'mode', 'read', owner, #holds)
end
for _, hold in ipairs(holds) do
  redis.call('SET', hold, '1', 'PX', string.format('%.0f', leaseMs))
end
grantLease(lock, leaseMs, function()
  for _, hold in ipairs(holds) do
    redis.call('DEL', hold)
  end
  if mode then
    redis.call('HDEL', lock, owner)
  else
    redis.call('DEL', lock)
  end
end)
return { 'held' }
