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
--- @arg leaseMs  ms
--- @returns { 'held' } | { 'busy', remainingMs } | { 'ended' }
--- @guarded
--- @include lib/now
--- @include lib/read-holds
--- @include lib/first-lease
if redis.call('EXISTS', lock, ended, waiting) == 0 then
  redis.call('HSET', lock, 'mode', 'read', owner, 1)
  firstLease(lock, leaseMs)
  redis.call('SET', hold, '1', 'PX', leaseMs)
  return { 'held' }
end
local found = redis.call('HMGET', lock, 'mode', owner, writer)
local mode = found[1]
if found[2] then
  keepHold(hold, tonumber(leaseMs))
  raiseToHolds(lock, tonumber(leaseMs), { hold }, 1, 1)
  return { 'held' }
end
if redis.call('EXISTS', ended) == 1 then
  return { 'ended' }
end
if mode ~= 'read' and mode ~= 'write' and redis.call('EXISTS', lock) == 1 then
  return redis.error_reply('ERR the key holds a lock of another kind, or no lock')
end
local downgrades = mode == 'write' and writer ~= '' and found[3]
local remainingMs = redis.call('PTTL', lock)
if not downgrades then
  -- A hash without expiry may be user data, and joining its readers would give it an expiry.
  if mode == 'write' or remainingMs == -1 then
    return { 'busy', remainingMs }
  end
  local last = redis.call('ZREVRANGE', waiting, 0, 0, 'WITHSCORES')
  local waitsMs = last[2] and tonumber(last[2]) - nowMs() or 0
  if waitsMs > 0 then
    return { 'busy', waitsMs }
  end
end
if not mode then
  redis.call('HSET', lock, 'mode', 'read', owner, 1)
  firstLease(lock, leaseMs)
else
  redis.call('HSET', lock, owner, 1)
  if remainingMs < tonumber(leaseMs) and type(redis.pcall('PEXPIRE', lock, leaseMs)) ~= 'number' then
    redis.call('HDEL', lock, owner)
    redis.call('PEXPIRE', lock, leaseMs)
  end
end
redis.call('SET', hold, '1', 'PX', leaseMs)
return { 'held' }
