--- Ends a reader's hold for good, however often it was entered; the last one out frees the lock.
---
--- The TTL of the lock is the longest lease of its holders. When it was this reader's, the others are named in
--- the answer, so that the TTL can be brought to theirs, and the lock freed when all of them are dead.
--- What happened is remembered for a while, as for every lock. Removing comes first: it works without free memory.
---
--- @key lock        hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key ended       string  there once this owner's hold is over
--- @keys holds      string  every hold key that the owner may have
--- @arg owner       string
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'released', announced, readers: string... } | { 'lost' }
--- @include lib/announce
--- @include lib/list-readers
--- @include lib/read-holds
local leftMs = longestHold(holds, 1, #holds)
for _, hold in ipairs(holds) do
  redis.call('DEL', hold)
end
if redis.pcall('HDEL', lock, owner) ~= 1 then
  if redis.call('GET', ended) == 'released' then
    return { 'released', 1 }
  end
  redis.pcall('SET', ended, 'lost', 'PX', rememberMs)
  return { 'lost' }
end
redis.pcall('SET', ended, 'released', 'PX', rememberMs)
if redis.call('HLEN', lock) <= 1 then
  redis.call('DEL', lock)
  return { 'released', announce(publish, channel, '0') }
end
local reply = { 'released', 1 }
-- The hold key got its time just before the lock did: a few milliseconds may have passed in between.
if redis.call('HGET', lock, 'mode') == 'read' and redis.call('PTTL', lock) <= leftMs + 100 then
  listReaders(reply, lock)
end
return reply
