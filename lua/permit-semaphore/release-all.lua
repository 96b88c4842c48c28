--- Ends several permits for good, all or none: if one is missing or expired, nothing is changed.
---
--- @key permits     string  the number of free permits
--- @key timeouts    zset    permit id -> end of its lease
--- @key answer      string  the remembered reply to this request
--- @keys ended      string  for each id its tombstone: exists once the permit has ended
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms  how long to remember the answer
--- @arg tombstoneMs       integer  how long to refuse late acquisitions
--- @args ids        bytes
--- @returns { 'released', count, announced } | { 'refused' }
--- @include lib/remember
--- @include lib/expiring-permits
if freePermits(permits) == nil then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
local before = recall(answer)
if before then
  return before
end
local now = nowMs()
for _, id in ipairs(ids) do
  local present = endsAt(timeouts, id)
  if not present or present <= now then
    local reply = { 'refused' }
    remember(answer, rememberMs, reply)
    return reply
  end
end
reclaim(permits, timeouts, now, publish, channel)
local count = 0
for i, id in ipairs(ids) do
  count = count + redis.call('ZREM', timeouts, id)
  bar(ended[i], tombstoneMs)
end
local announced = 1
-- As in Redisson, the message is the number given back, not the total.
if redis.call('EXISTS', permits) == 1 then
  redis.call('INCRBY', permits, count)
  announced = announce(publish, channel, string.format('%.0f', count))
end
local reply = { 'released', count, announced }
remember(answer, rememberMs, reply)
return reply
