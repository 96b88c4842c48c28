--- Takes permits, or says after which time there will be enough if nobody else takes them.
---
--- The random bytes of the entry are the request: asked again, while its entry counts, it has what it took. A
--- request that was undone takes nothing any more, and one whose copy may be on its way leaves a mark, for the
--- copy may come when the entry is too old.
---
--- @key config          hash    rate, interval, type, keepAliveTime
--- @key overallValue    string  permits left, of all
--- @key overallHistory  zset    entry -> when it was granted, of all
--- @key clientValue     string  permits left, of this client
--- @key clientHistory   zset    entry -> when it was granted, of this client
--- @key answer          string  that this very request is over: granted or undone
--- @arg count           integer
--- @arg id              bytes    16 random bytes
--- @arg rememberMs      integer  how long to remember that they were taken; 0 when no copy can be on its way
--- @returns { 'granted' } | { 'short', waitMs } | { 'excess', rate } | { 'unset' } | { 'undone' }
--- @include lib/full-memory
--- @include lib/rate-limit
--- @include lib/rate-window
if count < 1 or count > 4294967295 or #id ~= 16 then
  return redis.error_reply('ERR the number of permits or the id of the request is out of range')
end
local before = redis.call('GET', answer)
if before == 'undone' then
  return { 'undone' }
end
if before then
  return { 'granted' }
end
local limit = readLimit(config, overallValue, overallHistory, clientValue, clientHistory)
if not limit then
  return { 'unset' }
end
if count > limit.rate then
  return { 'excess', limit.rate }
end

local entry = entryOf(id, count)
local grantedBefore = redis.call('ZSCORE', limit.history, entry)
if not grantedBefore or tonumber(grantedBefore) <= limit.horizon then
  local left, used, expiredCount = lookAt(limit, count)
  tidy(limit, expiredCount)
  if left < count then
    local at, freed = grantedAt(limit, (used or limit.rate - left) - limit.rate + count)
    if not at then
      -- Less was granted than is missing: part of the history is lost, and counts no more.
      left = limit.rate - freed
      at = grantedAt(limit, freed - limit.rate + count)
    end
    if left < count then
      storeLeft(limit, left)
      keepAlive(config, limit)
      return { 'short', at - limit.horizon }
    end
  end
  redis.call('ZADD', limit.history, whole(limit.now), entry)
  storeLeft(limit, left - count)
  keepAlive(config, limit)
end
if rememberMs > 0 then
  ignoreFullMemory(answer)
  redis.call('SET', answer, 'granted', 'PX', whole(rememberMs))
end
return { 'granted' }
