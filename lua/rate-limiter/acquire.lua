--- Takes permits, or says after which time there will be enough if no other client takes them; and how many are left.
---
--- The random bytes of an entry identify the request: a repeat finds its entry, while that counts, and takes no more. A
--- request that was undone takes nothing any more. A request whose copy may be on its way leaves a marker, because the
--- copy may arrive when the entry is too old.
---
--- @key config          hash    rate, interval, type, keepAliveTime
--- @key overallValue    string  permits left for all clients
--- @key overallHistory  zset    entry -> grant time, for all clients
--- @key clientValue     string  permits left for this client
--- @key clientHistory   zset    entry -> grant time, for this client
--- @key answer          string  marks this request as granted or undone
--- @arg count           integer
--- @arg id              bytes    16 random bytes
--- @arg rememberMs      integer  how long to remember the grant; 0 when no copy can be on its way
--- @returns { 'granted', left } | { 'short', waitMs, left } | { 'excess', rate } | { 'unset' } | { 'undone' }
--- @include lib/full-memory
--- @include lib/rate-limit
--- @include lib/rate-window
local before = redis.call('GET', answer)
if before == 'undone' then
  return { 'undone' }
end
local limit = readLimit(config, overallValue, overallHistory, clientValue, clientHistory)
if before then
  return { 'granted', limit and math.max(0, (lookAt(limit, limit.rate))) or 0 }
end
if not limit then
  return { 'unset' }
end
if count > limit.rate then
  return { 'excess', limit.rate }
end

local entry = entryOf(id, count)
local grantedBefore = redis.call('ZSCORE', limit.history, entry)
local remaining
if grantedBefore and tonumber(grantedBefore) > limit.horizon then
  remaining = lookAt(limit, limit.rate)
else
  local left, used, expiredCount = lookAt(limit, count)
  tidy(limit, expiredCount)
  if left < count then
    local at, freed = grantedAt(limit, (used or limit.rate - left) - limit.rate + count)
    if not at then
      -- The history has fewer permits than are missing: part of it is lost, and no longer counts.
      left = limit.rate - freed
      at = grantedAt(limit, freed - limit.rate + count)
    end
    if left < count then
      storeLeft(limit, left)
      keepAlive(config, limit)
      return { 'short', at - limit.horizon, math.max(0, left) }
    end
  end
  redis.call('ZADD', limit.history, whole(limit.now), entry)
  remaining = left - count
  storeLeft(limit, remaining)
  keepAlive(config, limit)
end
if rememberMs > 0 then
  ignoreFullMemory(answer)
  redis.call('SET', answer, 'granted', 'PX', whole(rememberMs))
end
return { 'granted', math.max(0, remaining) }
