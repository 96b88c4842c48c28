--- Extends every permit that has not expired to at least the lease; answers 1 or 0 for each.
---
--- A longer lease is never shortened. An expired permit stays expired, even if no script has freed it yet.
---
--- @keys timeouts   zset    for each permit: permit id -> end of its lease
--- @arg leaseMs     integer
--- @args ids        bytes
--- @returns { 'renewed', held: integer... }
--- @include lib/expiring-permits
local now = nowMs()
local score = endOf(now, leaseMs)
local ends = string.format('%.0f', score)
local reply = { 'renewed' }
for i, id in ipairs(ids) do
  -- Nil if it is not there, or the key is no semaphore's.
  local present = tonumber(redis.pcall('ZSCORE', timeouts[i], id))
  reply[i + 1] = 0
  if present and present > now then
    if present >= score or type(redis.pcall('ZADD', timeouts[i], ends, id)) ~= 'number' then
      -- A write that changes nothing: a server that may not write must confirm nothing, and a server that is out of
      -- memory accepts the next write.
      redis.call('ZREM', timeouts[i], '')
      if present < score then
        redis.call('ZADD', timeouts[i], ends, id)
      end
    end
    reply[i + 1] = 1
  end
end
return reply
