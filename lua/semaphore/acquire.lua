--- Takes permits, or says that there are too few, or no semaphore.
---
--- Each attempt is answered once: a copy of one that found too few permits does not take them later, when no caller
--- would know; a copy of one that took permits takes no more; and one that was undone before it ran takes none.
---
--- @key permits     string  the number of free permits
--- @key answer      string  the remembered reply to this attempt
--- @arg count       integer
--- @arg takenMs     ms  how long to remember that permits were taken
--- @arg shortMs     ms  how long to remember that there were too few
--- @returns { 'taken' } | { 'short', left } | { 'missing' } | { 'undone' }
--- @include lib/remember
local before = recall(answer)
if before then
  if before[1] == 'taken' then
    -- Written again, because on newer servers WAIT covers only the writes of the connection that sends it.
    redis.call('PEXPIRE', answer, takenMs)
  elseif before[1] == 'undone' then
    return { 'undone' }
  end
  return before
end
local value = redis.call('GET', permits)
local left = tonumber(value or '0')
if not left then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
if left >= count then
  redis.call('DECRBY', permits, count)
  remember(answer, takenMs, { 'taken' })
  return { 'taken' }
end
local reply = { 'missing' }
if value then
  reply = { 'short', left }
end
remember(answer, shortMs, reply)
return reply
