--- Adds permits, or removes them if negative, and wakes waiters that more permits may serve.
---
--- After a removal the number of free permits may be negative until enough are given back. A TTL stays.
---
--- @key permits     string  the number of free permits
--- @key answer      string  the remembered reply to this request
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
