--- Gives a holder back what a server that took over, or started anew, does not know of, together with its token.
---
--- @key lock      hash    owner -> hold count; its TTL is the lease
--- @key ended     string  there once this owner's hold is over
--- @key last      string  the last token given
--- @key guard     string  which server was last reckoned with, and until when its grace lasts
--- @arg owner     string
--- @arg count     integer
--- @arg token     integer
--- @arg leaseMs   ms
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'held' } | { 'taken' } | { 'lost' }
--- @include lib/reclaim-hold
-- The next token must be higher than this one, though the server's clock be behind its predecessor's.
local known = redis.call('GET', last)
if (tonumber(known or '0') or token) < token then
  if known and redis.call('PTTL', last) > 0 then
    redis.call('SET', last, string.format('%.0f', token), 'KEEPTTL')
  else
    redis.call('SET', last, string.format('%.0f', token))
  end
end
return reclaimHold(lock, owner, count, leaseMs, ended, guard, graceMs, trusted)
