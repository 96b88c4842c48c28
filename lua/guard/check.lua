--- Says whether new owners may acquire, or for how long only holders may reclaim what they held.
---
--- @key guard     string  the last server seen in charge, and the end of its grace
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'open' } | { 'grace', remainingMs, server: string }
--- @include lib/grace
local remainingMs, server = graceLeft(guard, graceMs, trusted)
if remainingMs > 0 then
  return { 'grace', remainingMs, server }
end
return { 'open' }
