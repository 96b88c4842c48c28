--- Answers the configuration of a limiter.
---
--- @key config          hash    rate, interval, type, keepAliveTime
--- @returns { 'config', mode: string, rate, intervalMs, keepAliveMs } | { 'unset' }
local fields = redis.call('HMGET', config, 'type', 'rate', 'interval', 'keepAliveTime')
if not fields[1] or not fields[2] or not fields[3] then
  return { 'unset' }
end
return { 'config', fields[1], fields[2], fields[3], fields[4] or '0' }
