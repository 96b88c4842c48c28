--- Undoes an acquisition that its caller gave up: gives its permits back, and bars it if it has not run yet. Done
--- twice, it gives back once.
---
--- @key permits     string  the number of free permits
--- @key timeouts    zset    permit id -> end of its lease
--- @keys ended      string  for each id its tombstone: exists once the permit has ended
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @args ids        bytes
--- @returns { 'returned', announced } | { 'barred' }
--- @include lib/expiring-permits
if freePermits(permits) == nil then
  return redis.error_reply('ERR the key holds something that is not a number of permits')
end
local count = 0
for i, id in ipairs(ids) do
  count = count + redis.call('ZREM', timeouts, id)
  bar(ended[i], rememberMs)
end
if count == 0 then
  return { 'barred' }
end
return { 'returned', giveBack(permits, count, publish, channel) }
