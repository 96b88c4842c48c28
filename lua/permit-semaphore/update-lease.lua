--- Gives a permit that is taken another lease, longer or shorter, counted from now.
---
--- @key permits     string  how many are free
--- @key timeouts    zset    id -> until when it is taken
--- @key answer      string  what this very request was answered
--- @arg leaseMs     integer  -1 without end
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @arg id          bytes
--- @returns { 'updated' } | { 'missing' }
--- @include lib/remember
--- @include lib/expiring-permits
if leaseMs < 1 and leaseMs ~= -1 then
  return redis.error_reply('ERR a lease must be positive')
end
if not freePermits(permits) then
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
