--- Closes the latch with a count, unless it is closed already.
---
--- A key that holds 0 is an open latch, which Redisson's own script takes for a closed one.
---
--- @key latch       string  how many are still to count down; missing: open
--- @key answer      string  what this very request was answered
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
