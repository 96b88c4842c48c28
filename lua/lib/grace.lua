--- Whether the server can have forgotten holds that still run, for clients with the guard.
---
--- A replica that is promoted, a server that restarts: each comes with a replication id of its own, and may lack
--- what was granted last. For one grace nobody new is let in, and holders that are missing may come back. The
--- record says which id was last reckoned with, and until when its grace lasts: `<id> <ms>`, or `<id>` once it is over.
---
--- @include lib/now

-- A server that was never promoted has forgotten nothing that was granted since it started. The uptime is the
-- difference of two times in whole seconds, and may be up to a second more than has passed; a clock that was set
-- back since the start makes it negative.
local function startedAt(now)
  local uptime = string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(-?%d+)')
  return now - math.max(0, tonumber(uptime) - 1) * 1000
end

-- How long strangers are kept out, 0 when they are not, and the id of the server. Who is `trusted` has been seen
-- in charge for longer than a grace: in a Cluster, a slot that was not used since need not wait once more.
local function graceLeft(guard, graceMs, trusted)
  local text = redis.call('INFO', 'replication')
  local record = redis.call('GET', guard) or ''
  -- This is nearly always so, and decided without a look at the clock or into the text.
  if #record == 40 and string.find(text, 'master_replid:' .. record, 1, true) then
    return 0, record
  end
  local id = string.match(text, 'master_replid:(%x+)')
  if not id then
    error('the server does not tell its replication id, which the guard needs', 0)
  end
  local now = nowMs()
  local reckoned, endsAt = string.match(record, '^(%x+) (%d+)$')
  endsAt = tonumber(endsAt) or 0
  if reckoned and reckoned ~= id then
    -- A grace that came here with its slot, or that a promotion interrupts, goes by another clock.
    endsAt = now + graceMs
  elseif not reckoned and not string.find(trusted, id, 1, true) then
    local promoted = not string.find(text, 'master_replid2:0+%s')
    endsAt = (promoted and now or startedAt(now)) + graceMs
  end
  if endsAt <= now then
    redis.call('SET', guard, id)
    return 0, id
  end
  -- Later than this it cannot end: the clock was set back.
  local latest = now + graceMs
  if reckoned ~= id or endsAt > latest then
    endsAt = math.min(endsAt, latest)
    redis.call('SET', guard, string.format('%s %.0f', id, endsAt))
  end
  return endsAt - now, id
end
