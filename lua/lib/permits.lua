--- Adds permits to a semaphore.
---
--- INCRBY keeps the TTL of the key, and creates a missing one.
--- The message is the new total: Redisson wakes that many waiters. It must be above 0, or Redisson's listeners throw.
---
--- @include lib/announce
--- @include lib/full-memory
local function announcePermits(total, publish, channel)
  if total > 0 then
    return announce(publish, channel, string.format('%.0f', total))
  end
  return 1
end

local function addPermits(permits, count, publish, channel)
  local total = redis.call('INCRBY', permits, count)
  return count > 0 and announcePermits(total, publish, channel) or 1
end

-- For scripts that give permits back: a server that is out of memory must accept them.
local function returnPermits(permits, count, publish, channel, answer)
  local total = redis.pcall('INCRBY', permits, count)
  if type(total) ~= 'number' then
    ignoreFullMemory(answer)
    total = redis.call('INCRBY', permits, count)
  end
  return announcePermits(total, publish, channel)
end
