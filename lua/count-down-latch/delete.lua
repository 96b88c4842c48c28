--- Removes the latch, which opens it, and wakes all waiters.
---
--- Redisson announces a deletion with 1 only, which closes the gate of its waiters: they would wait forever. The 0
--- that follows opens the gate again, so the order matters.
---
--- @key latch       string  the count; missing: the latch is open
--- @key answer      string  the remembered reply to this request
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'deleted', announced } | { 'missing' }
--- @include lib/remember
--- @include lib/announce
local before = recall(answer)
if before then
  return before
end
local reply = { 'missing' }
if redis.call('GET', latch) then
  redis.call('DEL', latch)
  announce(publish, channel, '1')
  reply = { 'deleted', announce(publish, channel, '0') }
end
remember(answer, rememberMs, reply)
return reply
