--- Ends the owner's plain lock for good, for owners whose commands may have copies on their way.
---
--- A tombstone keeps the outcome for a while: a repeat gets the same answer, and an acquisition of this owner that was
--- sent before but arrives later is refused.
---
--- @key lock        string  the holder's token; its TTL is the lease
--- @key ended       string  tombstone: exists once this owner's hold has ended
--- @arg owner       string
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'released', heardBy } as integer | { 'lost' } as nil
--- @include lib/announce
--- @include lib/full-memory
if redis.pcall('GET', lock) == owner then
  redis.call('DEL', lock)
  redis.pcall('SET', ended, 'released', 'PX', rememberMs)
  return tell(publish, channel, '0')
end
if redis.call('GET', ended) == 'released' then
  return 0
end
ignoreFullMemory(ended)
redis.pcall('SET', ended, 'lost', 'PX', rememberMs)
return nil
