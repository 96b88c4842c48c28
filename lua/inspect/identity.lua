--- Which server process this is and for how long it has run. INFO may be forbidden: both are then empty.
---
--- @returns { 'server', runId: string, uptimeSeconds: string }
local text = redis.pcall('INFO', 'server')
if type(text) ~= 'string' then
  return { 'server', '', '' }
end
return {
  'server',
  string.match(text, 'run_id:(%x+)') or '',
  string.match(text, 'uptime_in_seconds:(%d+)') or '',
}
