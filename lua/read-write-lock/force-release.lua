--- Ends the holds of the named holders, and wakes the waiters if that frees the lock. Other readers are left alone.
---
--- A writer may have begun to read since it was named: the lock then becomes a read lock, as after its release. The
--- reply names the readers that stay, so that the client can set the TTL of the lock to their leases. The hold keys of
--- ended readers are left to expire: without a field they mean nothing. The answer is remembered: a Redisson thread
--- uses the same field for every hold, and a repeat must not end its next hold.
---
--- @key lock        hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @key answer      string  the remembered reply to this request
--- @arg mode        string  how they held the lock at the time of the call: read or write
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @args holders    string
--- @returns { 'ended', announced, readers: string... }
--- @include lib/announce
--- @include lib/full-memory
--- @include lib/list-readers
--- @include lib/remember
local before = recall(answer)
if before then
  return before
end
ignoreFullMemory(answer)
local ended = 0
for _, holder in ipairs(holders) do
  ended = ended + redis.call('HDEL', lock, holder)
end
local reply = { 'ended', 1 }
if ended > 0 then
  local isFree = redis.call('HLEN', lock) <= 1
  if isFree then
    redis.call('DEL', lock)
  elseif mode == 'write' then
    redis.call('HSET', lock, 'mode', 'read')
  end
  if isFree or mode == 'write' then
    reply[2] = announce(publish, channel, mode == 'write' and '1' or '0')
  end
end
remember(answer, rememberMs, reply)
if ended > 0 then
  listReaders(reply, lock)
end
return reply
