--- Removes the readers whose hold keys are all gone, and brings the TTL of the lock down to the leases that are left.
---
--- Who waits was told a longer time, and is woken to hear the shorter one.
--- Only readers that are still as they were seen are judged, and the TTL is touched only when no other has come:
--- repeated or late, it does no more than the truth of the moment allows.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @keys holds   string  for each reader its hold keys
--- @arg publish  string  PUBLISH or SPUBLISH
--- @arg channel  string
--- @args readers string  for each reader its field, then its count
--- @returns { 'free', announced } | { 'kept', remainingMs }
--- @include lib/announce
--- @include lib/read-holds
local expected = 0
for i = 2, #readers, 2 do
  expected = expected + (tonumber(readers[i]) or 0)
end
if #readers % 2 == 1 or expected ~= #holds then
  return redis.error_reply('ERR the hold keys do not fit the readers')
end
local mode = redis.call('HGET', lock, 'mode')
if not mode then
  return { 'free', 1 }
end
if mode ~= 'read' then
  return { 'kept', redis.call('PTTL', lock) }
end
local alive, longestMs, last = 0, 0, 0
for i = 1, #readers, 2 do
  local first = last + 1
  last = last + tonumber(readers[i + 1])
  if redis.call('HGET', lock, readers[i]) == readers[i + 1] then
    local leftMs = longestHold(holds, first, last)
    if leftMs > 0 then
      alive = alive + 1
      longestMs = math.max(longestMs, leftMs)
    else
      redis.call('HDEL', lock, readers[i])
    end
  end
end
local fields = redis.call('HLEN', lock)
if fields == 1 then
  redis.call('DEL', lock)
  return { 'free', announce(publish, channel, '0') }
end
if fields == alive + 1 and longestMs < redis.call('PTTL', lock) then
  redis.call('PEXPIRE', lock, longestMs)
  announce(publish, channel, '0')
end
return { 'kept', redis.call('PTTL', lock) }
