--- Says how many are still to count down; 0 when the latch is open.
---
--- @key latch       string  how many are still to count down; missing: open
--- @returns { 'count', left }
return { 'count', redis.call('GET', latch) or '0' }
