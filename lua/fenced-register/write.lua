--- Writes a value, unless a newer token has been seen.
---
--- Within one token the writes are numbered, so that one that arrives late does not undo the next.
---
--- @key register   hash    value, and the token and number of the write it comes from
--- @arg value      string
--- @arg token      integer
--- @arg sequence   integer
--- @returns { 'written' } | { 'stale', token }
local seen = redis.call('HMGET', register, 'token', 'sequence')
local seenToken, seenSequence = tonumber(seen[1]) or 0, tonumber(seen[2]) or 0
if token < seenToken then
  return { 'stale', string.format('%.0f', seenToken) }
end
if token > seenToken or sequence > seenSequence then
  local newest = { string.format('%.0f', token), string.format('%.0f', sequence) }
  redis.call('HSET', register, 'value', value, 'token', newest[1], 'sequence', newest[2])
end
return { 'written' }
