--- Answers the replication section of INFO, from the server that has the key; empty if INFO is forbidden.
---
--- @key lock    any     only routes the script to its server in a Cluster
--- @returns { 'primary', info: string }
local _ = lock
local text = redis.pcall('INFO', 'replication')
if type(text) ~= 'string' then
  return { 'primary', '' }
end
-- A demoted server has no replicas, which says nothing about the replicas of the new primary.
if string.find(text, 'role:slave', 1, true) then
  return redis.error_reply("READONLY You can't ask a replica how many replicas there are")
end
return { 'primary', text }
