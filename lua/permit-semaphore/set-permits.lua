--- Makes free and taken permits together as many as this, and wakes the waiters. Made smaller than what is
--- taken, fewer than none are free until enough came back. A TTL stays.
---
--- @key permits     string  how many are free
--- @key timeouts    zset    id -> until when it is taken
--- @key answer      string  what this very request was answered
--- @arg count       integer
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'set', announced } | { 'kept' }
--- @include lib/remember
--- @include lib/expiring-permits
if count < 0 then
  return redis.error_reply('ERR the number of permits must not be negative')
end
local free = freePermits(permits)
if not free then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
local before = recall(answer)
if before then
  return before
end
local reply = { 'kept' }
local isMissing = redis.call('EXISTS', permits) == 0
local difference = isMissing and count or count - free - redis.call('ZCARD', timeouts)
if isMissing or difference ~= 0 then
  redis.call('INCRBY', permits, string.format('%.0f', difference))
  reply = { 'set', 1 }
  -- The new number, as Redisson has it; but no zero, which nobody could use.
  if count > 0 then
    reply = { 'set', announce(publish, channel, string.format('%.0f', count)) }
  end
end
remember(answer, rememberMs, reply)
return reply
