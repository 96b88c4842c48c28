--- Sets the number of permits of a semaphore, unless it is set already.
---
--- @key permits     string  the number of free permits
--- @key answer      string  the remembered reply to this request
--- @arg count       integer
--- @arg ttlMs       integer  how long the semaphore lives; 0: forever
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'set', announced } | { 'kept' }
--- @include lib/remember
--- @include lib/announce
local before = recall(answer)
if before then
  return before
end
local reply = { 'kept' }
if redis.call('EXISTS', permits) == 0 then
  if ttlMs > 0 then
    redis.call('SET', permits, count, 'PX', ttlMs)
  else
    redis.call('SET', permits, count)
  end
  reply = { 'set', 1 }
  if count > 0 then
    reply = { 'set', announce(publish, channel, string.format('%.0f', count)) }
  end
end
remember(answer, rememberMs, reply)
return reply
