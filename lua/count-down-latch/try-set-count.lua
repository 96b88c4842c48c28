--- Closes the latch with a count, unless it is closed already.
---
--- A key that holds 0 is an open latch, although Redisson's script treats it as a closed one.
---
--- @key latch       string  the count; missing: the latch is open
--- @key answer      string  the remembered reply to this request
--- @arg count       integer
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'set', announced } | { 'kept' }
--- @include lib/remember
--- @include lib/latch
--- @include lib/announce
if count < 1 then
  return redis.error_reply('ERR the count must be positive')
end
local before = recall(answer)
if before then
  return before
end
local left = countLeft(latch)
if not left then
  return redis.error_reply('ERR the key holds something that is not a count')
end
local reply = { 'kept' }
if left <= 0 then
  redis.call('SET', latch, string.format('%.0f', count))
  reply = { 'set', announce(publish, channel, '1') }
end
remember(answer, rememberMs, reply)
return reply
