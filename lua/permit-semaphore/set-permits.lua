--- Sets the total of free and taken permits, and wakes the waiters. If more permits are taken than that, the number of
--- free permits is negative until enough are given back. A TTL stays.
---
--- @key permits     string  the number of free permits
--- @key timeouts    zset    permit id -> end of its lease
--- @key answer      string  the remembered reply to this request
--- @arg count       integer
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'set', announced } | { 'kept' }
--- @include lib/remember
--- @include lib/expiring-permits
local free = freePermits(permits)
if free == nil then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
local before = recall(answer)
if before then
  return before
end
local reply = { 'kept' }
local difference = free and count - free - redis.call('ZCARD', timeouts) or count
if not free or difference ~= 0 then
  redis.call('INCRBY', permits, string.format('%.0f', difference))
  reply = { 'set', 1 }
  -- The message is the new total, as in Redisson, but never 0, which helps no waiter.
  if count > 0 then
    reply = { 'set', announce(publish, channel, string.format('%.0f', count)) }
  end
end
remember(answer, rememberMs, reply)
return reply
