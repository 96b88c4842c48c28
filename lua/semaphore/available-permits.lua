--- Says how many permits are free.
---
--- @key permits     string  how many are free
--- @returns { 'permits', count }
return { 'permits', redis.call('GET', permits) or '0' }
