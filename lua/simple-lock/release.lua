--- Deletes the plain lock if it is still the owner's, and wakes the waiters.
---
--- For owners whose commands were all answered on the connection that carried them: no copy can arrive later, so no
--- tombstone is needed.
---
--- @key lock     string  the holder's token; its TTL is the lease
--- @arg owner    string
--- @arg publish  string  PUBLISH or SPUBLISH
--- @arg channel  string
--- @returns { 'released', heardBy } as integer | { 'lost' } as nil
--- @include lib/announce
--- @include lib/in-charge
if redis.pcall('GET', lock) == owner then
  redis.call('DEL', lock)
  return tell(publish, channel, '0')
end
assertInCharge(lock)
return nil
