--- Says whether strangers may be let in, or for how long only those may come back who were in before.
---
--- @key guard     string  which server was last reckoned with, and until when its grace lasts
--- @arg graceMs   integer
--- @arg trusted   string  ids of servers that have been in charge for longer than a grace
--- @returns { 'settled' } | { 'grace', remainingMs, server: string }
--- @include lib/grace
local remainingMs, server = graceLeft(guard, graceMs, trusted)
if remainingMs > 0 then
  return { 'grace', remainingMs, server }
end
return { 'settled' }
