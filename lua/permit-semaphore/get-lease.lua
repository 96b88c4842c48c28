--- Says how much time is left of a permit's lease.
---
--- @key permits     string  the number of free permits
--- @key timeouts    zset    permit id -> end of its lease
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg id          bytes
--- @returns { 'leased', remainingMs } | { 'permanent' } | { 'missing' }
--- @include lib/expiring-permits
if freePermits(permits) == nil then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
local now = nowMs()
reclaim(permits, timeouts, now, publish, channel)
local present = endsAt(timeouts, id)
if not present then
  return { 'missing' }
end
if present >= PERMANENT then
  return { 'permanent' }
end
return { 'leased', string.format('%.0f', present - now) }
