--- The permits that are taken, in Redisson's layout: a sorted set of ids, each with the time at which it comes
--- back by itself. They come back when somebody looks, since nothing happens in the server when that time comes.
---
--- @include lib/now
--- @include lib/permits
--- @include lib/raise-lease

-- The time of a permit that has no end.
local PERMANENT = 922337203685477

-- As many results as are safe to unpack: the stack takes about 8000.
local CHUNK = 1000

-- How many are free: a missing key has none. Nil for what INCRBY would refuse after something else was changed.
local function freePermits(permits)
  return tonumber(string.match(redis.call('GET', permits) or '0', '^%-?%d+$'))
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

-- To follow the removal from the set. A semaphore that is gone does not come to life again.
local function giveBack(permits, count, publish, channel)
  if count == 0 or redis.call('EXISTS', permits) == 0 then
    return 1
  end
  return addPermits(permits, count, publish, channel)
end

-- Brings back the permits whose time is over.
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

-- A permit that is over is refused to an acquisition of it that arrives late. Who ended it stays written there.
local function bar(ended, rememberMs)
  redis.pcall('SET', ended, 'over', 'PX', rememberMs, 'NX')
  raiseLease(ended, rememberMs)
end
