--- Makes sure that an attempt nobody waits for any more comes to nothing: gives back what it took, and bars it
--- if it has not run yet.
---
--- Permits go back only to a semaphore that still is there: those of one that expired or was deleted are gone
--- with it. Done twice, it gives back once.
---
--- @key permits     string  how many are free
--- @key answer      string  what that very attempt was answered
--- @arg count       integer
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'returned', announced } | { 'barred' }
--- @include lib/remember
--- @include lib/full-memory
--- @include lib/permits
if count < 1 then
  return redis.error_reply('ERR the number of permits must be positive')
end
local before = recall(answer)
ignoreFullMemory(answer)
local reply = { 'barred' }
if before and before[1] == 'taken' and redis.call('EXISTS', permits) == 1 then
  reply = { 'returned', addPermits(permits, count, publish, channel) }
end
remember(answer, rememberMs, { 'undone' })
return reply
