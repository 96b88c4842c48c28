--- Restores a hold, with its token, that a promoted or restarted server has forgotten.
---
--- @key lock      hash    owner -> hold count; its TTL is the lease
--- @key ended     string  tombstone: exists once this owner's hold has ended
--- @key last      string  the last token issued
--- @key guard     string  the last server seen in charge, and the end of its grace
--- @arg owner     string
--- @arg count     integer
--- @arg token     integer
--- @arg leaseMs   ms
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'held' } | { 'taken' } | { 'lost' }
--- @include lib/reclaim-hold
-- The next token must be higher than this one, even if this server's clock is behind that of its predecessor.
local known = redis.call('GET', last)
if (tonumber(known or '0') or token) < token then
  if known and redis.call('PTTL', last) > 0 then
    redis.call('SET', last, string.format('%.0f', token), 'KEEPTTL')
  else
    redis.call('SET', last, string.format('%.0f', token))
  end
end
return reclaimHold(lock, owner, count, leaseMs, ended, guard, graceMs, trusted)
