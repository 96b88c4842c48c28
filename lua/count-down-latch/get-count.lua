--- Answers the count; 0 when the latch is open.
---
--- @key latch       string  the count; missing: the latch is open
--- @returns { 'count', left }
return { 'count', redis.call('GET', latch) or '0' }
