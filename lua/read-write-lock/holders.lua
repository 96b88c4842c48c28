--- Names everyone who holds the lock, readers and writer.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @returns { 'free' } | { 'held', holders: string... }
if redis.call('HEXISTS', lock, 'mode') == 0 then
  return { 'free' }
end
local reply = { 'held' }
for _, field in ipairs(redis.call('HKEYS', lock)) do
  if field ~= 'mode' then
    reply[#reply + 1] = field
  end
end
return reply
