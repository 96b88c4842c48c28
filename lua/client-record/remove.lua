--- Removes the record of a client that closes.
---
--- @key client   string  who the client is, as JSON
--- @returns { 'removed' }
redis.call('DEL', client)
return { 'removed' }
