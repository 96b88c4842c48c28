--- Ends the owner's hold, however often it was entered, and wakes the waiters.
---
--- For owners whose commands were all answered on the connection that carried them: no copy can arrive later, so no
--- tombstone is needed. HDEL removes the whole lock, which has no other field, and needs no free memory.
---
--- @key lock     hash    owner -> hold count; its TTL is the lease
--- @arg owner    string
--- @arg publish  string  PUBLISH or SPUBLISH
--- @arg channel  string
--- @returns { 'released', heardBy } as integer | { 'lost' } as nil
--- @include lib/announce
--- @include lib/in-charge
if redis.pcall('HDEL', lock, owner) == 1 then
  return tell(publish, channel, '0')
end
assertInCharge(lock)
return nil
