--- Whether a holder that the server does not know may come back. Only within the grace, when nobody else can have
--- been let in; a hold that was ended meanwhile does not begin again.
---
--- @include lib/grace
local function mayComeBack(ended, guard, graceMs, trusted)
  if redis.call('EXISTS', ended) == 1 then
    return false
  end
  -- Nothing is there to delete, but a server that may not write refuses: its word must end nobody's hold.
  redis.call('DEL', ended)
  return graceLeft(guard, graceMs, trusted) > 0
end
