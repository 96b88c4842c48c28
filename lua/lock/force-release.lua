--- Ends the hold of the named holder, and wakes the waiters. Every other holder is left alone.
---
--- The answer is remembered: a thread of Redisson comes back under the same field, and a repeat must not end its next
--- hold.
---
--- @key lock        hash    owner -> hold count; its TTL is the lease
--- @key answer      string  what this very request was answered
--- @arg holder      string  who held the lock when the call was made
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
