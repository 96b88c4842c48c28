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
--- @include lib/permits
local before = recall(answer)
if before then
  return before
end
local reply = { 'released', returnPermits(permits, count, publish, channel, answer) }
remember(answer, rememberMs, reply)
return reply
