--- Ends one permit for good, gives it back and wakes the waiters.
---
--- An expired permit is given back as well, but its holder had lost it already. A tombstone keeps the request that
--- ended the permit for a while: a repeat gets the same answer, and any other request learns that the permit is
--- missing. ZREM comes first because it works without free memory, and makes the server accept the writes that follow.
---
--- @key permits     string  the number of free permits
--- @key timeouts    zset    permit id -> end of its lease
--- @key ended       string  tombstone of this permit: the request that ended it
--- @arg request     string
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @arg id          bytes
--- @returns { 'released', announced } | { 'expired', announced } | { 'missing' }
--- @include lib/expiring-permits
local free = freePermits(permits)
if free == nil then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
local present = endsAt(timeouts, id)
redis.call('ZREM', timeouts, id)
if not present then
  if redis.call('GET', ended) == request then
    return { 'released', 1 }
  end
  bar(ended, rememberMs)
  return { 'missing' }
end
local announced = free and addPermits(permits, 1, publish, channel) or 1
if present <= nowMs() then
  bar(ended, rememberMs)
  return { 'expired', announced }
end
redis.pcall('SET', ended, request, 'PX', rememberMs)
return { 'released', announced }
