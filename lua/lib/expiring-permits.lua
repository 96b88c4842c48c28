--- The taken permits, in Redisson's layout: a sorted set of ids, each with the end of its lease. Scripts free expired
--- permits when they run, because the server itself does nothing when a lease ends.
---
--- @include lib/now
--- @include lib/permits
--- @include lib/raise-lease

-- The lease end of a permit without expiry.
local PERMANENT = 922337203685477

-- As many results as are safe to unpack: the stack takes about 8000.
local CHUNK = 1000

-- The number of free permits; false without a semaphore. Nil if INCRBY would refuse the value: found before any change.
local function freePermits(permits)
  local value = redis.call('GET', permits)
  return value and tonumber(string.match(value, '^%-?%d+$'))
end

local function endOf(now, leaseMs)
  if leaseMs == -1 then
    return PERMANENT
  end
  return math.min(now + leaseMs, PERMANENT)
end

local function endsAt(timeouts, id)
  return tonumber(redis.call('ZSCORE', timeouts, id))
end

-- When the first taken permit comes back; nil when none is taken.
local function firstEnd(timeouts)
  return tonumber(redis.call('ZRANGE', timeouts, 0, 0, 'WITHSCORES')[2])
end

-- To be called after the ids are removed from the set. A semaphore that is gone is not created again.
local function giveBack(permits, count, publish, channel)
  if count == 0 or redis.call('EXISTS', permits) == 0 then
    return 1
  end
  return addPermits(permits, count, publish, channel)
end

-- Frees the permits whose lease has ended.
local function reclaim(permits, timeouts, now, publish, channel)
  local count = 0
  local found
  repeat
    local ids = redis.call('ZRANGEBYSCORE', timeouts, 0, string.format('%.0f', now), 'LIMIT', 0, CHUNK)
    found = #ids
    if found > 0 then
      redis.call('ZREM', timeouts, unpack(ids))
      count = count + found
    end
  until found < CHUNK
  giveBack(permits, count, publish, channel)
end

-- Leaves a tombstone that refuses late acquisitions of the permit. A request that is already named there stays.
local function bar(ended, rememberMs)
  redis.pcall('SET', ended, 'over', 'PX', rememberMs, 'NX')
  raiseLease(ended, rememberMs)
end
