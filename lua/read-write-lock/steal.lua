--- Takes the lock for a new writer from the named holders. If others hold it by now, nothing changes.
---
--- Delivered twice, it makes one hold; delivered after that hold was released or given up, none.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended    string  tombstone: exists once this owner's hold has ended
--- @arg owner    string
--- @arg leaseMs  ms
--- @args robbed  string  the holders at the time of the call
--- @returns { 'held' } | { 'changed' } | { 'ended' }
--- @guarded
--- @include lib/raise-lease
--- @include lib/first-lease
if redis.call('HEXISTS', lock, owner) == 1 then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
if redis.call('EXISTS', ended) == 1 then
  return { 'ended' }
end
local mode = redis.call('HGET', lock, 'mode')
if mode ~= 'read' and mode ~= 'write' and redis.call('EXISTS', lock) == 1 then
  return redis.error_reply('ERR the key holds a lock of another kind, or no lock')
end
local others = math.max(0, redis.call('HLEN', lock) - 1)
for _, holder in ipairs(robbed) do
  others = others - redis.call('HEXISTS', lock, holder)
end
if others > 0 then
  return { 'changed' }
end
redis.call('DEL', lock)
redis.call('HSET', lock, 'mode', 'write', owner, 1)
firstLease(lock, leaseMs)
return { 'held' }
