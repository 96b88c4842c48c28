--- Gives permits back and wakes the waiters, unless the semaphore is gone.
---
--- @key permits     string  the number of free permits
--- @key answer      string  the remembered reply to this request
--- @arg count       integer
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'released', announced } | { 'missing' }
--- @include lib/remember
--- @include lib/permits
local before = recall(answer)
if before then
  return before
end
local reply = { 'missing' }
if redis.call('EXISTS', permits) == 1 then
  reply = { 'released', returnPermits(permits, count, publish, channel, answer) }
end
remember(answer, rememberMs, reply)
return reply
