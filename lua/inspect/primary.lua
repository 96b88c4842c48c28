--- What the server that has the key tells of its replication, in its own words. INFO may be forbidden: the text is
--- then empty.
---
--- @key lock    any     named so that a Cluster sends the question to the server that has it
--- @returns { 'primary', info: string }
local _ = lock
local text = redis.pcall('INFO', 'replication')
if type(text) ~= 'string' then
  return { 'primary', '' }
end
-- A server that was demoted has no replicas of its own, which says nothing about those of the new primary.
if string.find(text, 'role:slave', 1, true) then
  return redis.error_reply("READONLY You can't ask a replica how many replicas there are")
end
return { 'primary', text }
