--- Says how many permits are free. Changes nothing.
---
--- @key config          hash    rate, interval, type, keepAliveTime
--- @key overallValue    string  permits left for all clients
--- @key overallHistory  zset    entry -> grant time, for all clients
--- @key clientValue     string  permits left for this client
--- @key clientHistory   zset    entry -> grant time, for this client
--- @returns { 'permits', count } | { 'unset' }
--- @include lib/rate-limit
--- @include lib/rate-window
local limit = readLimit(config, overallValue, overallHistory, clientValue, clientHistory)
if not limit then
  return { 'unset' }
end
local left = lookAt(limit, limit.rate)
return { 'permits', math.max(0, left) }
