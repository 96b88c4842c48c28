--- Takes permits under the given ids, all or none; otherwise says when the next taken permit expires, or that there is
--- no semaphore.
---
--- Delivered twice, it takes once: if one of the ids is taken, an earlier delivery took all of them, and the lease is
--- set again. Delivered after one of its permits was ended, it takes none.
---
--- @key permits     string  the number of free permits
--- @key timeouts    zset    permit id -> end of its lease
--- @keys ended      string  for each id its tombstone: exists once the permit has ended
--- @arg leaseMs     integer  -1: no expiry
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @args ids        bytes
--- @returns { 'taken' } | { 'short', remainingMs } | { 'missing' } | { 'ended' }
--- @include lib/expiring-permits
--- @include lib/renew-taken
local free = freePermits(permits)
if free == nil then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
local now = nowMs()
local score = endOf(now, leaseMs)
local first = firstEnd(timeouts)
if first and first <= now then
  reclaim(permits, timeouts, now, publish, channel)
  free = freePermits(permits)
  first = firstEnd(timeouts)
end

if first and renewTaken(timeouts, ids, leaseMs, score) then
  return { 'taken' }
end
for _, key in ipairs(ended) do
  if redis.call('EXISTS', key) == 1 then
    return { 'ended' }
  end
end
if not free then
  return { 'missing' }
end
if free < #ids then
  if not first or first >= PERMANENT then
    return { 'short', -1 }
  end
  return { 'short', string.format('%.0f', math.max(0, first - now)) }
end
redis.call('DECRBY', permits, #ids)
local ends = string.format('%.0f', score)
for _, id in ipairs(ids) do
  redis.call('ZADD', timeouts, ends, id)
end
-- Both keys expire together, or the taken permits would be lost to a semaphore that stays.
local ttlMs = redis.call('PTTL', permits)
if ttlMs >= 0 then
  redis.call('PEXPIRE', timeouts, ttlMs)
elseif first then
  redis.call('PERSIST', timeouts)
end
return { 'taken' }
