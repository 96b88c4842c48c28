--- Reads the permits of a semaphore, and adds to them.
---
--- A missing key has no permits; a value that is not a number is no semaphore: nil. INCRBY keeps the TTL of the key.
--- The message is the new total: Redisson wakes that many waiters. It must be above 0, or Redisson's listeners throw.
---
--- @include lib/announce
local function permitsLeft(permits)
  return tonumber(redis.call('GET', permits) or '0')
end

local function addPermits(permits, count, publish, channel)
  local total = redis.call('INCRBY', permits, count)
  if count > 0 and total > 0 then
    return announce(publish, channel, string.format('%.0f', total))
  end
  return 1
end
