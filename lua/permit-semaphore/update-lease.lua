--- Sets the lease of a taken permit, longer or shorter, counted from now.
---
--- @key permits     string  the number of free permits
--- @key timeouts    zset    permit id -> end of its lease
--- @key answer      string  the remembered reply to this request
--- @arg leaseMs     integer  -1: no expiry
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @arg id          bytes
--- @returns { 'updated' } | { 'missing' }
--- @include lib/remember
--- @include lib/expiring-permits
if freePermits(permits) == nil then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
local before = recall(answer)
if before then
  return before
end
local now = nowMs()
reclaim(permits, timeouts, now, publish, channel)
local reply = { 'missing' }
if endsAt(timeouts, id) then
  redis.call('ZADD', timeouts, string.format('%.0f', endOf(now, leaseMs)), id)
  reply = { 'updated' }
end
remember(answer, rememberMs, reply)
return reply
