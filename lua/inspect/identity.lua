--- Which server process this is and for how long it has run, by its clock: less than nothing where that was set
--- back. INFO may be forbidden: both are then empty.
---
--- @key lock    any     named so that a Cluster sends the question to the server that has it
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
