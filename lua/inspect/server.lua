--- What the server is and how it treats keys when memory is short. INFO may be forbidden: its text is then empty.
---
--- @returns { 'server', general: string, memory: string }
local function info(section)
  local text = redis.pcall('INFO', section)
  if type(text) == 'string' then
    return text
  end
  return ''
end
return { 'server', info('server'), info('memory') }
