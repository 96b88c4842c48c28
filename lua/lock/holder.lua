--- Names the holder, for a later call that ends exactly this hold. A hash that is not a lock is refused.
---
--- @key lock     hash    owner -> hold count; its TTL is the lease
--- @returns { 'free' } | { 'held', holder: string }
--- @include lib/sole-holder
if redis.call('HLEN', lock) == 0 then
  return { 'free' }
end
local holder = soleHolder(lock)
if not holder then
  return redis.error_reply('WRONGTYPE the key holds a hash that is not a lock')
end
return { 'held', holder }
