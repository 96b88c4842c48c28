--- Writes who a client is, for people, or keeps that alive. Running it again changes only the expiry.
---
--- @key client   string  who the client is, as JSON
--- @arg record   string
--- @arg keepMs   ms      the record is gone this long after the client's last sign of life
--- @returns { 'written' }
redis.call('SET', client, record, 'PX', keepMs)
return { 'written' }
