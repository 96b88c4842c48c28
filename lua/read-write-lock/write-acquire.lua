--- Takes the lock for a new writer, or says how long it is taken and in which mode.
---
--- The readers are not checked here: a Redisson reader may live although its hold keys are gone. Whether readers still
--- count is decided when a reader leaves, and by the TTL of the lock.
--- Delivered twice, it makes one hold; delivered after that hold was released or given up, none.
--- A writer with preference is noted while it waits; the note lasts a short time and every attempt renews it.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended    string  tombstone: exists once this owner's hold has ended
--- @key waiting  zset    waiting writers -> until when readers yield to them
--- @arg owner    string
--- @arg leaseMs  ms
--- @arg noteMs   integer  how long readers yield after this attempt; 0: no preference
--- @returns { 'held' } | { 'busy', remainingMs, mode: string } | { 'ended' }
--- @guarded
--- @include lib/now
--- @include lib/raise-lease
--- @include lib/first-lease
if redis.call('EXISTS', lock, ended, waiting) == 0 then
  redis.call('HSET', lock, 'mode', 'write', owner, 1)
  firstLease(lock, leaseMs)
  return { 'held' }
end
local found = redis.call('HMGET', lock, 'mode', owner)
local mode = found[1]
if found[2] then
  raiseLease(lock, leaseMs)
  return { 'held' }
end
if redis.call('EXISTS', ended) == 1 then
  return { 'ended' }
end
if mode ~= 'read' and mode ~= 'write' then
  if redis.call('EXISTS', lock) == 1 then
    return redis.error_reply('ERR the key holds a lock of another kind, or no lock')
  end
  redis.call('HSET', lock, 'mode', 'write', owner, 1)
  firstLease(lock, leaseMs)
  redis.call('ZREM', waiting, owner)
  return { 'held' }
end
if noteMs > 0 then
  local now = nowMs()
  redis.pcall('ZREMRANGEBYSCORE', waiting, '-inf', string.format('%.0f', now))
  redis.pcall('ZADD', waiting, string.format('%.0f', now + noteMs), owner)
  raiseLease(waiting, noteMs)
end
return { 'busy', redis.call('PTTL', lock), mode }
