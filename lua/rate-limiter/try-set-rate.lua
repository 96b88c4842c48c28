--- Gives a limiter its rate, unless it has one.
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
--- @returns { 'set' } | { 'kept' }
--- @include lib/remember
--- @include lib/rate-limit
if (mode ~= '0' and mode ~= '1') or rate < 1 or intervalMs < 1 or keepAliveMs < 0 then
  return redis.error_reply('ERR the rate is out of range')
end
local before = recall(answer)
if before then
  return before
end
local reply = { 'kept' }
if redis.call('HEXISTS', config, 'type') == 0 then
  writeRate(config, mode, rate, intervalMs, keepAliveMs)
  -- What is left of an earlier limiter of that name goes on counting, and lives as long as this one.
  local limit = readLimit(config, overallValue, overallHistory, clientValue, clientHistory)
  if limit then
    keepAlive(config, limit)
  end
  reply = { 'set' }
end
remember(answer, rememberMs, reply)
return reply
