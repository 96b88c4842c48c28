--- Says how many permits are free and how many are taken, after freeing the expired ones.
---
--- @key permits     string  the number of free permits
--- @key timeouts    zset    permit id -> end of its lease
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @returns { 'permits', free, taken } | { 'missing', taken }
--- @include lib/expiring-permits
if freePermits(permits) == nil then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
reclaim(permits, timeouts, nowMs(), publish, channel)
local taken = redis.call('ZCARD', timeouts)
if redis.call('EXISTS', permits) == 0 then
  return { 'missing', taken }
end
return { 'permits', redis.call('GET', permits), taken }
