--- The last token given, by whomever; 0 when none is known.
---
--- @key token   string  the last token given
--- @returns { 'token', value }
return { 'token', redis.call('GET', token) or '0' }
