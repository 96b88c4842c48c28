--- Gives every read hold that is still its owner's at least its lease, hold keys and lock; answers 1 or 0 for each.
---
--- A hold key that is gone is made again: as long as the reader's field is there, no writer can have come in. The lock
--- gets no less than the hold keys have: a watchdog of Redisson may have set its time to its own.
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
    -- A reader without a hold key counts for nobody else: it must not believe itself renewed.
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
