--- Admits a new reader beside others, or beneath its own write hold; or says how long it has to wait.
---
--- Delivered twice, it makes one hold; delivered after that hold was released or given up, none.
--- A reader without a hold yields to a waiting writer of holdfast that has preference.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended    string  tombstone: exists once this owner's hold has ended
--- @key hold     string  the owner's first hold key; its TTL is the lease
--- @key waiting  zset    waiting writers -> until when readers yield to them
--- @arg owner    string
--- @arg writer   string  the field of the same owner's write hold, or empty
--- @arg leaseMs  integer
--- @returns { 'held' } | { 'busy', remainingMs } | { 'ended' }
--- @guarded
--- @include lib/now
--- @include lib/read-holds
--- @include lib/grant-lease
if redis.call('HEXISTS', lock, owner) == 1 then
  keepHold(hold, leaseMs)
  raiseToHolds(lock, leaseMs, { hold }, 1, 1)
  return { 'held' }
end
if redis.call('EXISTS', ended) == 1 then
  return { 'ended' }
end
local mode = redis.call('HGET', lock, 'mode')
if mode ~= 'read' and mode ~= 'write' and redis.call('EXISTS', lock) == 1 then
  return redis.error_reply('ERR the key holds a lock of another kind, or no lock')
end
local downgrades = mode == 'write' and writer ~= '' and redis.call('HEXISTS', lock, writer) == 1
if mode and not downgrades then
  local remainingMs = redis.call('PTTL', lock)
  -- A hash without expiry may be user data, and joining its readers would give it an expiry.
  if mode == 'write' or remainingMs == -1 then
    return { 'busy', remainingMs }
  end
end
if not downgrades then
  local last = redis.call('ZREVRANGE', waiting, 0, 0, 'WITHSCORES')
  if last[2] then
    local waitsMs = tonumber(last[2]) - nowMs()
    if waitsMs > 0 then
      return { 'busy', waitsMs }
    end
  end
end
if mode then
  redis.call('HSET', lock, owner, 1)
else
  redis.call('HSET', lock, 'mode', 'read', owner, 1)
end
redis.call('SET', hold, '1', 'PX', string.format('%.0f', leaseMs))
grantLease(lock, leaseMs, function()
  redis.call('DEL', hold)
  if mode then
    redis.call('HDEL', lock, owner)
  else
    redis.call('DEL', lock)
  end
end)
return { 'held' }
