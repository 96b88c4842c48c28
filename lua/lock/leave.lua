--- Leaves one of several entries: sets the hold count and does not change the lease.
---
--- HSET may be refused when the server is out of memory. The count is then too high until the last release,
--- which ends the hold whatever the count; refusing to leave would be worse.
---
--- @key lock     hash    owner -> hold count; its TTL is the lease
--- @arg owner    string
--- @arg count    integer
--- @returns { 'held' } | { 'lost' }
if redis.pcall('HEXISTS', lock, owner) ~= 1 then
  return { 'lost' }
end
redis.pcall('HSET', lock, owner, count)
return { 'held' }
