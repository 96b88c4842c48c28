--- Answers the server's run id and its uptime, which is negative if the clock was set back. Both are empty if INFO is
--- forbidden.
---
--- @key lock    any     only routes the script to its server in a Cluster
--- @returns { 'server', runId: string, uptimeSeconds: string }
local _ = lock
local text = redis.pcall('INFO', 'server')
if type(text) ~= 'string' then
  return { 'server', '', '' }
end
return {
  'server',
  string.match(text, 'run_id:(%x+)') or '',
  string.match(text, 'uptime_in_seconds:(-?%d+)') or '',
}
