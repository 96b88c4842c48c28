--- Counts down by one; the last call opens the latch and wakes all waiters.
---
--- An open latch stays open, and that answer is remembered as well: a late copy must not count down a latch that is
--- closed again afterwards.
---
--- @key latch       string  the count; missing: the latch is open
--- @key answer      string  the remembered reply to this request
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'counted' } | { 'opened', announced } | { 'open' }
--- @include lib/remember
--- @include lib/full-memory
--- @include lib/latch
--- @include lib/announce
local before = recall(answer)
if before then
  return before
end
local left = countLeft(latch)
if not left then
  return redis.error_reply('ERR the key holds something that is not a count')
end
ignoreFullMemory(answer)
local reply = { 'open' }
if left > 1 then
  redis.call('DECR', latch)
  reply = { 'counted' }
else
  redis.call('DEL', latch)
end
if left == 1 then
  reply = { 'opened', announce(publish, channel, '0') }
end
remember(answer, rememberMs, reply)
return reply
