--- Gives permits back before their time. No more are free afterwards than the rate allows.
---
--- As many are taken out of the history, or they would come back once more with their time. The server cannot
--- tell which they are: the oldest go. An entry is also the memory of its request, which takes anew if it is repeated
--- after that.
---
--- @key config          hash    rate, interval, type, keepAliveTime
--- @key overallValue    string  permits left, of all
--- @key overallHistory  zset    entry -> when it was granted, of all
--- @key clientValue     string  permits left, of this client
--- @key clientHistory   zset    entry -> when it was granted, of this client
--- @key answer          string  what this very request was answered
--- @arg count           integer
--- @arg rememberMs      ms
--- @returns { 'released' } | { 'unset' }
--- @include lib/remember
--- @include lib/full-memory
--- @include lib/rate-limit
--- @include lib/rate-window
if count < 1 then
  return redis.error_reply('ERR the number of permits must be positive')
end
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
