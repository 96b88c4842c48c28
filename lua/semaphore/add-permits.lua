--- Makes the semaphore larger, or smaller by a negative number, and wakes waiters that more permits may serve.
---
--- Made smaller, it may owe permits: fewer than none are free until enough came back. A TTL stays.
---
--- @key permits     string  how many are free
--- @key answer      string  what this very request was answered
--- @arg count       integer
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'added', announced }
--- @include lib/remember
--- @include lib/permits
local before = recall(answer)
if before then
  return before
end
local reply = { 'added', addPermits(permits, count, publish, channel) }
remember(answer, rememberMs, reply)
return reply
