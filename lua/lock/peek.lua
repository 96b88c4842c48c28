--- Says for each lock how long it is taken: -2 when it is free, -1 without an expiry.
---
--- @keys locks   any     of any layout whose key exists exactly while the lock is held
--- @returns { 'peeked', remaining: integer... }
local reply = { 'peeked' }
for i, lock in ipairs(locks) do
  reply[i + 1] = redis.call('PTTL', lock)
end
return reply
