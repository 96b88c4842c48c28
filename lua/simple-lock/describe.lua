--- Answers the holder of the plain lock and the time left.
---
--- @key lock     string  the holder's token; its TTL is the lease
--- @returns { 'free' } | { 'locked', remainingMs, holder: string? }
--- @include lib/short-text
local holder = redis.call('GET', lock)
if not holder then
  return { 'free' }
end
return { 'locked', redis.call('PTTL', lock), shortText(holder) }
