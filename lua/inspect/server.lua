--- Answers the server's INFO, empty if it is forbidden, and the server's time. Publishes a message on a channel without
--- subscribers, to find out whether the server accepts messages.
---
--- @keys slot     any     in a Cluster, a key of the slot whose server is asked; otherwise none
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
