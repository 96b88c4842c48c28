--- Whether a holder that the server does not know may come back. Only within the grace, when nobody else can have
--- been let in; a hold that was ended meanwhile does not begin again.
---
--- @include lib/grace
local function mayComeBack(ended, guard, graceMs, trusted)
  return redis.call('EXISTS', ended) == 0 and graceLeft(guard, graceMs, trusted) > 0
end
