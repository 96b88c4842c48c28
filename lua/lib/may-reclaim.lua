--- Whether a holder that the server has forgotten may reclaim its hold: only within the grace, when no other owner can
--- have acquired the lock, and not if the hold was ended meanwhile.
---
--- @include lib/grace
local function mayReclaim(ended, guard, graceMs, trusted)
  if redis.call('EXISTS', ended) == 1 then
    return false
  end
  -- There is nothing to delete, but a server that may not write refuses: its answer must not end a hold.
  redis.call('DEL', ended)
  return graceLeft(guard, graceMs, trusted) > 0
end
