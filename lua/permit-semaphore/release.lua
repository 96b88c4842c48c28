--- Ends one permit for good, gives it back and wakes the waiters.
---
--- One whose time was over is given back all the same, but was not its holder's any more. Which request ended
--- it is remembered for a while: repeated, it gets the same answer, and any other is told that the permit is
--- not there. ZREM comes first because it works without free memory, and lets what follows pass.
---
--- @key permits     string  how many are free
--- @key timeouts    zset    id -> until when it is taken
--- @key ended       string  there once this permit is over: the request that ended it
--- @arg request     string
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @arg id          bytes
--- @returns { 'released', announced } | { 'expired', announced } | { 'missing' }
--- @include lib/expiring-permits
if not freePermits(permits) then
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
local announced = giveBack(permits, 1, publish, channel)
if present <= nowMs() then
  bar(ended, rememberMs)
  return { 'expired', announced }
end
redis.pcall('SET', ended, request, 'PX', rememberMs)
return { 'released', announced }
