--- Reads the configuration of a rate limiter, and which keys apply: those of all clients, or the caller's.
---
--- Redisson's fields are `rate`, `interval` in ms, `type` ('0' one limit for all clients, '1' one for each client) and
--- `keepAliveTime` in ms, which older versions do not have. Without the first three there is no limiter.
---
--- @include lib/now
local function readLimit(config, overallValue, overallHistory, clientValue, clientHistory)
  local fields = redis.call('HMGET', config, 'rate', 'interval', 'type', 'keepAliveTime')
  local rate, intervalMs = tonumber(fields[1]), tonumber(fields[2])
  if not rate or not intervalMs or not fields[3] then
    return nil
  end
  local isPerClient = fields[3] == '1'
  local now = nowMs()
  return {
    rate = rate,
    intervalMs = intervalMs,
    keepAliveMs = tonumber(fields[4]) or 0,
    now = now,
    -- Grants at this time or earlier no longer count.
    horizon = now - intervalMs,
    value = isPerClient and clientValue or overallValue,
    history = isPerClient and clientHistory or overallHistory,
  }
end

local function writeRate(config, mode, rate, intervalMs, keepAliveMs)
  redis.call('HSET', config, 'type', mode, 'rate', rate, 'interval', intervalMs, 'keepAliveTime', keepAliveMs)
  if keepAliveMs > 0 then
    redis.call('PEXPIRE', config, keepAliveMs)
  end
end

--- Using a limiter prolongs its life. Its other keys get the same TTL, because they must not outlive it.
local function keepAlive(config, limit)
  local ttl = limit.keepAliveMs
  if ttl > 0 then
    redis.call('PEXPIRE', config, ttl)
  else
    ttl = redis.call('PTTL', config)
  end
  if ttl >= 0 then
    redis.call('PEXPIRE', limit.value, math.max(ttl, 1))
    redis.call('PEXPIRE', limit.history, math.max(ttl, 1))
  end
end
