--- Ends the hold of the named holder and wakes the waiters. Any other holder is left alone.
---
--- The answer is remembered: a Redisson thread uses the same field for every hold, and a repeat must not end its next
--- hold.
---
--- @key lock        hash    owner -> hold count; its TTL is the lease
--- @key answer      string  the remembered reply to this request
--- @arg holder      string  the holder at the time of the call
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'ended', announced }
--- @include lib/announce
--- @include lib/full-memory
--- @include lib/remember
local before = recall(answer)
if before then
  return before
end
ignoreFullMemory(answer)
local reply = { 'ended', 1 }
if redis.call('HDEL', lock, holder) == 1 then
  reply[2] = announce(publish, channel, '0')
end
remember(answer, rememberMs, reply)
return reply
