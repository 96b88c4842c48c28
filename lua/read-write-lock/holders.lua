--- Names all holders of the lock, readers and writer. A hash that is not a read/write lock is refused.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @returns { 'free' } | { 'held', mode: string, holders: string... }
--- @include lib/is-hold
local mode = redis.call('HGET', lock, 'mode')
if not mode and redis.call('EXISTS', lock) == 0 then
  return { 'free' }
end
local hasExpiry = redis.call('PTTL', lock) >= 0
local reply = { 'held', mode }
local isLock = mode == 'read' or mode == 'write'
local fields = isLock and redis.call('HGETALL', lock) or {}
for i = 1, #fields, 2 do
  if fields[i] ~= 'mode' then
    reply[#reply + 1] = fields[i]
    isLock = isLock and isHold(fields[i], fields[i + 1], hasExpiry)
  end
end
if not isLock or #reply == 2 then
  return redis.error_reply('WRONGTYPE the key holds a hash that is not a read/write lock')
end
return reply
