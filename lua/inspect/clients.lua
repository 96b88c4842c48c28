--- Reads the records of clients, which say who they are, for people. The record of an unknown client is empty.
---
--- @keys clients  string  who the client is, as JSON
--- @returns { 'clients', records: string... }
local reply = { 'clients' }
for _, client in ipairs(clients) do
  reply[#reply + 1] = redis.call('GET', client) or ''
end
return reply
