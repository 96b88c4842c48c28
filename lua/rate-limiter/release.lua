--- Gives permits back before their interval ends. The number of free permits never exceeds the rate.
---
--- As many are removed from the history, or they would become free a second time when their entries expire. The server
--- cannot tell which entries they belong to: the oldest go. An entry also identifies its request, which takes permits
--- again if it is repeated after that.
---
--- @key config          hash    rate, interval, type, keepAliveTime
--- @key overallValue    string  permits left for all clients
--- @key overallHistory  zset    entry -> grant time, for all clients
--- @key clientValue     string  permits left for this client
--- @key clientHistory   zset    entry -> grant time, for this client
--- @key answer          string  the remembered reply to this request
--- @arg count           integer
--- @arg rememberMs      ms
--- @returns { 'released' } | { 'unset' }
--- @include lib/remember
--- @include lib/full-memory
--- @include lib/rate-limit
--- @include lib/rate-window
local before = recall(answer)
if before then
  return before
end
local reply = { 'unset' }
local limit = readLimit(config, overallValue, overallHistory, clientValue, clientHistory)
if limit then
  local left, _, expiredCount = lookAt(limit, limit.rate)
  ignoreFullMemory(answer)
  tidy(limit, expiredCount)
  storeLeft(limit, left + takeOut(limit, math.min(count, limit.rate - left)))
  keepAlive(config, limit)
  reply = { 'released' }
end
remember(answer, rememberMs, reply)
return reply
