--- Says how many permits are free.
---
--- @key permits     string  the number of free permits
--- @returns { 'permits', count }
return { 'permits', redis.call('GET', permits) or '0' }
