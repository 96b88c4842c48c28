--- Extends every permit that has not expired to at least the lease; answers 1 or 0 for each.
---
--- A longer lease is never shortened. An expired permit stays expired, even if no script has freed it yet.
---
--- @keys timeouts   zset    for each permit: permit id -> end of its lease
--- @arg leaseMs     integer
--- @args ids        bytes
--- @returns { 'renewed', held: integer... }
--- @include lib/expiring-permits
if leaseMs < 1 then
  return redis.error_reply('ERR a lease must be positive')
end
local now = nowMs()
local score = endOf(now, leaseMs)
local reply = { 'renewed' }
for i, id in ipairs(ids) do
  -- This write changes nothing: after it, a server that is out of memory accepts the next one.
  local isOurs = type(redis.pcall('ZREM', timeouts[i], '')) == 'number'
  local present = isOurs and endsAt(timeouts[i], id) or 0
  reply[i + 1] = 0
  if present > now then
    reply[i + 1] = 1
    if present < score then
      redis.call('ZADD', timeouts[i], string.format('%.0f', score), id)
    end
  end
end
return reply
