--- Undoes an attempt that its caller gave up: gives its permits back, and bars it if it has not run yet.
---
--- Permits go back only to a semaphore that still exists: if it expired or was deleted, its permits are gone too. Done
--- twice, it gives back once.
---
--- @key permits     string  the number of free permits
--- @key answer      string  the remembered reply to that attempt
--- @arg count       integer
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'returned', announced } | { 'barred' }
--- @include lib/remember
--- @include lib/full-memory
--- @include lib/permits
local before = recall(answer)
ignoreFullMemory(answer)
local reply = { 'barred' }
if before and before[1] == 'taken' and redis.call('EXISTS', permits) == 1 then
  reply = { 'returned', addPermits(permits, count, publish, channel) }
end
remember(answer, rememberMs, { 'undone' })
return reply
