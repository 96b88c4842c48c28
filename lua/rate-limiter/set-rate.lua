--- Gives a limiter its rate, whether it has one or not, and lets it begin anew: what was granted counts no more.
---
--- A limiter that lived only as long as it was used, and shall not any more, stays.
---
--- @key config          hash    rate, interval, type, keepAliveTime
--- @key overallValue    string  permits left, of all
--- @key overallHistory  zset    entry -> when it was granted, of all
--- @key clientValue     string  permits left, of this client
--- @key clientHistory   zset    entry -> when it was granted, of this client
--- @key answer          string  what this very request was answered
--- @arg mode            string   0 one limit for all, 1 one for each client
--- @arg rate            integer
--- @arg intervalMs      integer
--- @arg keepAliveMs     integer  how long the limiter lives after it was used; 0 for ever
--- @arg rememberMs      ms
--- @returns { 'set' }
--- @include lib/remember
--- @include lib/rate-limit
if (mode ~= '0' and mode ~= '1') or rate < 1 or intervalMs < 1 or keepAliveMs < 0 then
  return redis.error_reply('ERR the rate is out of range')
end
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
