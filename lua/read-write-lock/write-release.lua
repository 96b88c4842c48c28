--- Ends a writer's hold for good, however often it was entered, and wakes everyone who waits.
---
--- When the same owner also reads, the lock goes on as a read lock: other readers may come in at once. The readers
--- are named in the answer, so that the TTL of the lock can be brought to their leases. What happened is
--- remembered for a while, as for every lock. HDEL comes first because it works without free memory.
---
--- @key lock        hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended       string  there once this owner's hold is over
--- @key waiting     zset    writers that readers stand back for -> until when
--- @arg owner       string
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'released', announced, readers: string... } | { 'lost' }
--- @include lib/announce
--- @include lib/list-readers
if redis.pcall('HDEL', lock, owner) == 1 then
  local downgraded = redis.call('HLEN', lock) > 1
  if downgraded then
    redis.call('HSET', lock, 'mode', 'read')
  else
    redis.call('DEL', lock)
  end
  redis.call('ZREM', waiting, owner)
  redis.pcall('SET', ended, 'released', 'PX', rememberMs)
  local reply = { 'released', announce(publish, channel, '1') }
  if downgraded then
    listReaders(reply, lock)
  end
  return reply
end
local withdrew = redis.pcall('ZREM', waiting, owner) == 1
if redis.call('GET', ended) == 'released' then
  return { 'released', 1 }
end
redis.pcall('SET', ended, 'lost', 'PX', rememberMs)
if withdrew then
  announce(publish, channel, '1')
end
return { 'lost' }
