--- Answers the last token issued to any client; 0 when none is known.
---
--- @key token   string  the last token issued
--- @returns { 'token', value }
return { 'token', redis.call('GET', token) or '0' }
