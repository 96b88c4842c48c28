--- Takes the lock for a new writer, or says how long it is taken and how.
---
--- Readers are not judged here: a reader of Redisson may live though its hold keys are gone. Whether they still count
--- is decided when a reader leaves, and by the TTL of the lock.
--- Delivered twice, it still makes one hold; delivered after that hold was released or given up, it makes none.
--- A writer with preference has itself noted while it waits; the note lasts a short time and every attempt renews it.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended    string  there once this owner's hold is over
--- @key waiting  zset    writers that readers stand back for -> until when
--- @arg owner    string
--- @arg leaseMs  ms
--- @arg noteMs   integer  how long readers stand back after this attempt; 0 without preference
--- @returns { 'held' } | { 'busy', remainingMs, mode: string } | { 'ended' }
--- @guarded
--- @include lib/now
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
