--- Names the holder's token, for a later call that ends exactly this hold.
---
--- A token may be any string, but a lock has an expiry: a string without one is refused.
---
--- @key lock     string  the holder's token; its TTL is the lease
--- @returns { 'free' } | { 'held', holder: string }
--- @include lib/token-name
local token = redis.call('GET', lock)
if not token then
  return { 'free' }
end
if redis.call('PTTL', lock) == -1 then
  return redis.error_reply('WRONGTYPE the key holds a string without expiry, which is not a lock')
end
return { 'held', tokenName(token) }
