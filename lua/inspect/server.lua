--- What the server is, in its own words, and what time it has. INFO may be forbidden: its text is then empty.
--- Whether messages are taken is found out by sending one, on a channel that nobody listens to.
---
--- @keys slot     any     a key of the slot whose server is asked, in a Cluster; none elsewhere
--- @arg publish   string  the command that publishes; empty to send nothing
--- @arg channel   string
--- @returns { 'server', nowMs, info: string, refusal: string }
--- @include lib/now
local _ = slot
local info = ''
for _, section in ipairs({ 'server', 'memory', 'persistence', 'replication', 'cluster' }) do
  local text = redis.pcall('INFO', section)
  if type(text) ~= 'string' then
    break
  end
  info = info .. text
end
local refusal = ''
if publish ~= '' then
  local receivers = redis.pcall(publish, channel, '')
  if type(receivers) == 'table' then
    refusal = receivers.err
  end
end
return { 'server', string.format('%.0f', nowMs()), info, refusal }
