--- Says how many permits could be taken at once. Changes nothing.
---
--- @key config          hash    rate, interval, type, keepAliveTime
--- @key overallValue    string  permits left, of all
--- @key overallHistory  zset    entry -> when it was granted, of all
--- @key clientValue     string  permits left, of this client
--- @key clientHistory   zset    entry -> when it was granted, of this client
--- @returns { 'permits', count } | { 'unset' }
--- @include lib/rate-limit
--- @include lib/rate-window
local limit = readLimit(config, overallValue, overallHistory, clientValue, clientHistory)
if not limit then
  return { 'unset' }
end
local left = lookAt(limit, limit.rate)
return { 'permits', math.max(0, left) }
