--- Reads the permits of a semaphore, and adds to them.
---
--- A missing key has none. What is no number is nil: it is not ours. INCRBY keeps a TTL that the key may have.
--- The message is the new total, by which Redisson wakes as many; it must be above 0, or its listeners throw.
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
