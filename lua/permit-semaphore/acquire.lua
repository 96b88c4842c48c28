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
if leaseMs < 1 and leaseMs ~= -1 then
  return redis.error_reply('ERR a lease must be positive')
end
if #ids == 0 or #ids ~= #ended then
  return redis.error_reply('ERR every permit needs an id and a key for its end')
end
for _, id in ipairs(ids) do
  if #id ~= 16 then
    return redis.error_reply('ERR the id of a permit has 16 bytes')
  end
end
if not freePermits(permits) then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
local now = nowMs()
reclaim(permits, timeouts, now, publish, channel)

local score = endOf(now, leaseMs)
local isTaken = false
for _, id in ipairs(ids) do
  local present = endsAt(timeouts, id)
  isTaken = isTaken or present ~= nil
  -- A permanent permit that has an expiry now got it later, by a change of its lease.
  if present and present < score and leaseMs ~= -1 then
    redis.call('ZADD', timeouts, string.format('%.0f', score), id)
  end
end
if isTaken then
  -- Written again, because on newer servers WAIT covers only the writes of the connection that sends it.
  local ttlMs = redis.call('PTTL', timeouts)
  if ttlMs >= 0 then
    redis.call('PEXPIRE', timeouts, math.max(ttlMs, 1))
  else
    redis.call('PEXPIRE', timeouts, 60000)
    redis.call('PERSIST', timeouts)
  end
  return { 'taken' }
end
for _, key in ipairs(ended) do
  if redis.call('EXISTS', key) == 1 then
    return { 'ended' }
  end
end

if freePermits(permits) < #ids then
  if redis.call('EXISTS', permits) == 0 then
    return { 'missing' }
  end
  local first = redis.call('ZRANGE', timeouts, 0, 0, 'WITHSCORES')
  local comesBackAt = tonumber(first[2]) or PERMANENT
  if comesBackAt >= PERMANENT then
    return { 'short', -1 }
  end
  return { 'short', string.format('%.0f', math.max(0, comesBackAt - now)) }
end
redis.call('DECRBY', permits, #ids)
for _, id in ipairs(ids) do
  redis.call('ZADD', timeouts, string.format('%.0f', score), id)
end
-- Both keys expire together, or the taken permits would be lost to a semaphore that stays.
local ttlMs = redis.call('PTTL', permits)
if ttlMs >= 0 then
  redis.call('PEXPIRE', timeouts, ttlMs)
else
  redis.call('PERSIST', timeouts)
end
return { 'taken' }
