--- Says whether the server is the one in the record, with its grace over: the usual case, decided without a clock.
---
--- Otherwise guard/check has to decide, in another attempt.
---
--- @key guard  string  the last server seen in charge, and the end of its grace
--- @returns { 'open' } | { 'unsettled' }
local record = redis.call('GET', guard) or ''
-- Once a grace is over, the record is a line of INFO, of 54 characters. A shorter text might be found by chance.
if #record ~= 54 or not string.find(redis.call('INFO', 'replication'), record, 1, true) then
  return { 'unsettled' }
end
return { 'open' }
