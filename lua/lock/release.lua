--- Ends the owner's hold for good, however often it was entered, and wakes the waiters.
---
--- What happened is remembered for a while: a repeat gets the same answer, and an acquisition of this owner
--- that was sent before but arrives after is refused. DEL comes first because it works without free memory.
---
--- @key lock        hash    owner -> hold count; its TTL is the lease
--- @key ended       string  there once this owner's hold is over
--- @arg owner       string
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  integer
--- @returns { 'released', announced } | { 'lost' }
--- @include lib/announce
--- @include lib/full-memory
if redis.pcall('HEXISTS', lock, owner) == 1 then
  redis.call('DEL', lock)
  redis.pcall('SET', ended, 'released', 'PX', rememberMs)
  return { 'released', announce(publish, channel, '0') }
end
if redis.call('GET', ended) == 'released' then
  return { 'released', 1 }
end
ignoreFullMemory(ended)
redis.pcall('SET', ended, 'lost', 'PX', rememberMs)
return { 'lost' }
