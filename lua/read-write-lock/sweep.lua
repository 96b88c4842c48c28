--- Checks the readers that stay after a release, as Redisson does: the lock gets the longest time that one of their
--- hold keys has left, and is freed if no hold key exists.
---
--- One reader without hold keys keeps its field: Redisson 3.44 to 3.52 loses the hold keys of live readers, and their
--- fields and counts must exist when they enter again or leave. The script acts only on the readers that the client
--- saw: if others have come, or some have entered again, it names them and changes nothing. So a repeat or a late copy
--- does no harm.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @keys holds   string  for each reader its hold keys
--- @arg publish  string  PUBLISH or SPUBLISH
--- @arg channel  string
--- @args readers string  for each reader its field, then its count
--- @returns { 'free', announced } | { 'kept' } | { 'changed', readers: string... }
--- @include lib/announce
--- @include lib/list-readers
--- @include lib/read-holds
local counts, expected = {}, 0
for i = 1, #readers, 2 do
  counts[readers[i]] = readers[i + 1]
  expected = expected + (tonumber(readers[i + 1]) or 0)
end
if #readers % 2 == 1 or expected ~= #holds then
  return redis.error_reply('ERR the hold keys do not fit the readers')
end
local mode = redis.call('HGET', lock, 'mode')
if not mode then
  return { 'free', 1 }
end
if mode ~= 'read' then
  return { 'kept' }
end
local present = { 'changed' }
listReaders(present, lock)
local asSeen = #present == #readers + 1
for i = 2, #present, 2 do
  asSeen = asSeen and counts[present[i]] == present[i + 1]
end
if not asSeen then
  return present
end
local longestMs = longestHold(holds, 1, #holds)
if longestMs == 0 then
  redis.call('DEL', lock)
  return { 'free', announce(publish, channel, '0') }
end
local leftMs = redis.call('PTTL', lock)
if longestMs ~= leftMs and longestMs ~= FOR_EVER_MS then
  redis.call('PEXPIRE', lock, longestMs)
  -- The waiters know the longer time: the wake-up lets them learn the shorter one.
  if longestMs < leftMs then
    announce(publish, channel, '0')
  end
end
return { 'kept' }
