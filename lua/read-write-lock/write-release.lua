--- Ends a writer's hold for good, however often it was entered, and wakes all waiters.
---
--- If the same owner also reads, the lock becomes a read lock: other readers may acquire it at once. The reply names
--- the readers, so that the client can set the TTL of the lock to their leases. A tombstone keeps the outcome for a
--- while, as for every lock. HDEL comes first because it works without free memory.
---
--- @key lock        hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended       string  tombstone: exists once this owner's hold has ended
--- @key waiting     zset    waiting writers -> until when readers yield to them
--- @arg owner       string
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'released', announced, readers: string... } | { 'lost' }
--- @include lib/announce
--- @include lib/in-charge
--- @include lib/list-readers
if redis.pcall('HDEL', lock, owner) == 1 then
  local downgraded = redis.call('HLEN', lock) > 1
  if downgraded then
    redis.call('HSET', lock, 'mode', 'read')
  else
    redis.call('DEL', lock)
  end
  redis.pcall('SET', ended, 'released', 'PX', rememberMs)
  local reply = { 'released', announce(publish, channel, '1') }
  if downgraded then
    listReaders(reply, lock)
  end
  return reply
end
assertInCharge(lock)
local withdrew = redis.pcall('ZREM', waiting, owner) == 1
if redis.call('GET', ended) == 'released' then
  return { 'released', 1 }
end
redis.pcall('SET', ended, 'lost', 'PX', rememberMs)
if withdrew then
  announce(publish, channel, '1')
end
return { 'lost' }
