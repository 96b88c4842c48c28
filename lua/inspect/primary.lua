--- Which server has the key, by its replication id, and how many replicas are connected to it. INFO may be
--- forbidden, or say less: the id is then empty, the number -1.
---
--- @key lock    any     named so that a Cluster sends the question to the server that has it
--- @returns { 'primary', server: string, replicas }
local _ = lock
local text = redis.pcall('INFO', 'replication')
if type(text) ~= 'string' then
  return { 'primary', '', -1 }
end
-- A server that was demoted has no replicas of its own, which says nothing about those of the new primary.
if string.find(text, 'role:slave', 1, true) then
  return redis.error_reply("READONLY You can't ask a replica how many replicas there are")
end
return {
  'primary',
  string.match(text, 'master_replid:(%x+)') or '',
  tonumber(string.match(text, 'connected_slaves:(%d+)')) or -1,
}
