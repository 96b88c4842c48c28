--- Sets the rate of a limiter, whether or not it has one, and starts over: earlier grants no longer count.
---
--- If `keepAliveMs` changes to 0, the limiter loses its expiry.
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
--- @returns { 'set' }
--- @include lib/remember
--- @include lib/rate-limit
local before = recall(answer)
if before then
  return before
end
local keptAliveMs = tonumber(redis.call('HGET', config, 'keepAliveTime')) or 0
writeRate(config, mode, rate, intervalMs, keepAliveMs)
if keepAliveMs == 0 and keptAliveMs > 0 then
  redis.call('PERSIST', config)
end
redis.call('DEL', overallValue, overallHistory, clientValue, clientHistory)
local reply = { 'set' }
remember(answer, rememberMs, reply)
return reply
