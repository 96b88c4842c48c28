--- Gives every read hold that is still its owner's at least the lease, hold keys and lock; answers 1 or 0 for each.
---
--- A hold key that is gone is made again: as long as the reader's field is there, no writer can have come in.
---
--- @keys places   any     for each hold the lock, then its hold keys
--- @arg leaseMs   integer
--- @args holders  string  for each hold its owner, then the number of its hold keys
--- @returns { 'renewed', held: integer... }
--- @include lib/raise-lease
--- @include lib/read-holds
local reply = { 'renewed' }
local place = 1
for i = 1, #holders, 2 do
  local lock = places[place]
  local count = tonumber(holders[i + 1])
  local held = redis.pcall('HEXISTS', lock, holders[i]) == 1
  if held then
    -- A reader without a hold key counts for nobody else: it must not believe itself renewed.
    held = false
    for hold = place + 1, place + count do
      held = keepHold(places[hold], leaseMs) or held
    end
    raiseLease(lock, leaseMs)
  end
  reply[#reply + 1] = held and 1 or 0
  place = place + 1 + count
end
return reply
