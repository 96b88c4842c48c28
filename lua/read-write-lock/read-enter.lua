--- Enters a read hold again: sets the count, and gives every hold key the longest lease of all.
---
--- The count is absolute and the keys are numbered, so that a repeat changes nothing. The keys share one lease, because
--- the entries do: the order in which they are left must not matter.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @keys holds   string  the owner's hold keys, from the first to the new one
--- @arg owner    string
--- @arg leaseMs  integer
--- @returns { 'held' } | { 'lost' }
--- @include lib/read-holds
if redis.pcall('HEXISTS', lock, owner) ~= 1 then
  return { 'lost' }
end
local longestMs = math.max(leaseMs, longestHold(holds, 1, #holds))
redis.call('HSET', lock, owner, #holds)
for _, hold in ipairs(holds) do
  redis.call('SET', hold, '1', 'PX', string.format('%.0f', longestMs))
end
raiseLease(lock, longestMs)
return { 'held' }
