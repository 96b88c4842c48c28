--- The configuration of a rate limiter, and which of its keys are in force: those of all, or the caller's own.
---
--- Redisson's fields are `rate`, `interval` in ms, `type` ('0' one limit for all, '1' one for each client) and
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
    -- What was granted then or before has come back.
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

--- What the limiter counts must not outlive it: a limiter that was used lives on, and its keys with it.
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
