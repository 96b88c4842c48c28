--- Extends every plain lock that is still its owner's to at least the lease; answers 1 or 0 for each.
---
--- @keys locks   string  the holder's token; its TTL is the lease
--- @arg leaseMs  ms
--- @args owners  string  one for each lock
--- @returns { 'renewed', held: integer... }
--- @include lib/raise-lease
local reply = { 'renewed' }
for i, lock in ipairs(locks) do
  if redis.pcall('GET', lock) == owners[i] then
    raiseLease(lock, leaseMs)
    reply[i + 1] = 1
  else
    reply[i + 1] = 0
  end
end
return reply
