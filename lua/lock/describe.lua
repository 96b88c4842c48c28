--- Answers the holder of the lock and the time left. A hash with more fields is no lock of this kind: no holder.
---
--- @key lock     hash    owner -> hold count; its TTL is the lease
--- @returns { 'free' } | { 'locked', remainingMs, holder: string? }
--- @include lib/sole-holder
if redis.call('HLEN', lock) == 0 then
  return { 'free' }
end
local holder = soleHolder(lock)
return { 'locked', redis.call('PTTL', lock), holder }
