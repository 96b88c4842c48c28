--- Sets the rate of a limiter, unless it has one.
---
--- @key config          hash    rate, interval, type, keepAliveTime
--- @key overallValue    string  permits left for all clients
--- @key overallHistory  zset    entry -> grant time, for all clients
--- @key clientValue     string  permits left for this client
--- @key clientHistory   zset    entry -> grant time, for this client
--- @key answer          string  the remembered reply to this request
--- @arg mode            string   0: one limit for all clients, 1: one for each client
--- @arg rate            integer
--- @arg intervalMs      integer
--- @arg keepAliveMs     integer  how long the limiter is kept after its last use; 0: forever
--- @arg rememberMs      ms
--- @returns { 'set' } | { 'kept' }
--- @include lib/remember
--- @include lib/rate-limit
local before = recall(answer)
if before then
  return before
end
local reply = { 'kept' }
if redis.call('HEXISTS', config, 'type') == 0 then
  writeRate(config, mode, rate, intervalMs, keepAliveMs)
  -- The grants of an earlier limiter of that name still count, and are kept as long as this limiter.
  local limit = readLimit(config, overallValue, overallHistory, clientValue, clientHistory)
  if limit then
    keepAlive(config, limit)
  end
  reply = { 'set' }
end
remember(answer, rememberMs, reply)
return reply
