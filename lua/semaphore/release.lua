--- Gives permits back and wakes the waiters. A missing semaphore is created with them.
---
--- @key permits     string  the number of free permits
--- @key answer      string  the remembered reply to this request
--- @arg count       integer
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'released', announced }
--- @include lib/remember
--- @include lib/full-memory
--- @include lib/permits
if count < 1 then
  return redis.error_reply('ERR the number of permits must be positive')
end
local before = recall(answer)
if before then
  return before
end
ignoreFullMemory(answer)
local reply = { 'released', addPermits(permits, count, publish, channel) }
remember(answer, rememberMs, reply)
return reply
