--- Answers the mode, the time left and a holder of the lock: the given owner, if it is one of the holders.
---
--- @key lock     hash    mode, readers -> count, writer -> count; its TTL is the longest lease
--- @arg owner    string  the owner to look for, or empty
--- @returns { 'free' } | { 'locked', remainingMs, mode: string, holders, holder: string? }
local mode = redis.call('HGET', lock, 'mode')
if mode ~= 'read' and mode ~= 'write' then
  return { 'free' }
end
local holder = owner ~= '' and redis.call('HEXISTS', lock, owner) == 1 and owner or nil
if not holder then
  for _, field in ipairs(redis.call('HKEYS', lock)) do
    local writes = string.sub(field, -6) == ':write'
    if field ~= 'mode' and (writes or mode == 'read') then
      holder = field
    end
  end
end
return { 'locked', redis.call('PTTL', lock), mode, redis.call('HLEN', lock) - 1, holder }
