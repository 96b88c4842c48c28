--- Leaves one of several entries: sets the count and removes the hold keys above it; the lease does not change.
---
--- HSET may be refused when the server is out of memory. The count is then too high until the last release,
--- which ends the hold whatever the count.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @keys holds   string  the owner's hold keys above the count
--- @arg owner    string
--- @arg count    integer
--- @returns { 'held' } | { 'lost' }
if redis.pcall('HEXISTS', lock, owner) ~= 1 then
  return { 'lost' }
end
for _, hold in ipairs(holds) do
  redis.call('DEL', hold)
end
redis.pcall('HSET', lock, owner, count)
return { 'held' }
