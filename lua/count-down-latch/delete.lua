--- Removes the latch, which opens it, and wakes everybody.
---
--- Redisson announces a deletion with 1 alone, which closes the gate of its waiters: they would sleep on with
--- nothing left to wait for. The 0 behind it opens the gate again, so the order matters.
---
--- @key latch       string  how many are still to count down; missing: open
--- @key answer      string  what this very request was answered
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
