--- Ends a reader's hold for good, however often it was entered; the last reader frees the lock.
---
--- The TTL of the lock is the longest lease of its holders. If that was this reader's lease, the reply names the other
--- readers, so that the client can set the TTL to their leases, or free the lock if all of them are dead. A tombstone
--- keeps the outcome for a while, as for every lock. The removals come first: they work without free memory.
---
--- @key lock        hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended       string  tombstone: exists once this owner's hold has ended
--- @keys holds      string  every hold key that the owner may have; at least one
--- @arg owner       string
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'released', announced, readers: string... } | { 'lost' }
--- @include lib/announce
--- @include lib/in-charge
--- @include lib/list-readers
--- @include lib/read-holds
local isHeld = redis.pcall('HDEL', lock, owner) == 1
if isHeld and redis.call('HLEN', lock) <= 1 then
  redis.call('DEL', lock, holds[1])
  removeHolds(holds, 2)
  redis.pcall('SET', ended, 'released', 'PX', rememberMs)
  return { 'released', announce(publish, channel, '0') }
end
local leftMs = longestHold(holds, 1, #holds)
removeHolds(holds, 1)
if not isHeld then
  assertInCharge(lock)
  if redis.call('GET', ended) == 'released' then
    return { 'released', 1 }
  end
  redis.pcall('SET', ended, 'lost', 'PX', rememberMs)
  return { 'lost' }
end
redis.pcall('SET', ended, 'released', 'PX', rememberMs)
local reply = { 'released', 1 }
-- The hold key and the lock got their leases one after the other: a few milliseconds may have passed in between.
if redis.call('HGET', lock, 'mode') == 'read' and redis.call('PTTL', lock) <= leftMs + 100 then
  listReaders(reply, lock)
end
return reply
