--- Extends every read hold that is still its owner's, hold keys and lock, to at least the lease; answers 1 or 0 each.
---
--- A missing hold key is created again: while the reader's field exists, no writer can have acquired the lock. The lock
--- gets at least the time of the hold keys: a watchdog of Redisson may have set its TTL to another lease.
---
--- @keys places   any     for each hold the lock, then its hold keys
--- @args holders  string  for each hold its owner, the number of its hold keys, its lease
--- @returns { 'renewed', held: integer... }
--- @include lib/read-holds
local reply = { 'renewed' }
local place = 1
for i = 1, #holders, 3 do
  local lock = places[place]
  local count, leaseMs = tonumber(holders[i + 1]), tonumber(holders[i + 2])
  local held = redis.pcall('HEXISTS', lock, holders[i]) == 1
  if held then
    -- Other clients ignore a reader without a hold key: its renewal must not be confirmed.
    held = false
    for hold = place + 1, place + count do
      held = keepHold(places[hold], leaseMs) or held
    end
    raiseToHolds(lock, leaseMs, places, place + 1, place + count)
  end
  reply[#reply + 1] = held and 1 or 0
  place = place + 1 + count
end
return reply
