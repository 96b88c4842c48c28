--- Adds permits to a semaphore.
---
--- INCRBY keeps the TTL of the key, and creates a missing one.
--- The message is the new total: Redisson wakes that many waiters. It must be above 0, or Redisson's listeners throw.
---
--- @include lib/announce
local function addPermits(permits, count, publish, channel)
  local total = redis.call('INCRBY', permits, count)
  if count > 0 and total > 0 then
    return announce(publish, channel, string.format('%.0f', total))
  end
  return 1
end
