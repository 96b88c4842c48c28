--- Counts the clients of this server that listen on channels, for people. It counts nothing if the server does not
--- permit that. Changes nothing.
---
--- @key lock       any     only routes the script to its server in a Cluster
--- @arg count      string  NUMSUB, or SHARDNUMSUB for channels of a slot
--- @args channels  string
--- @returns { 'counted', listeners: integer... } | { 'refused', why: string }
local _ = lock
local counts = redis.pcall('PUBSUB', count, unpack(channels))
if counts.err then
  return { 'refused', counts.err }
end
local reply = { 'counted' }
for i = 2, #counts, 2 do
  reply[#reply + 1] = counts[i]
end
return reply
