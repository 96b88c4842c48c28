--- Whether the server can have forgotten holds that still run, for clients with the guard.
---
--- A promoted replica or a restarted server has a new replication id, and may lack the last grants. For one grace no
--- new owner may acquire, and holders may reclaim holds that are missing. The record has the last id seen and the end
--- of its grace, `<id> <ms>`. Once the grace is over, it is the line by which INFO tells the id: `master_replid:<id>`.
---
--- @include lib/now

-- A server that was never promoted has forgotten nothing that was granted since it started. The uptime is the
-- difference of two times in whole seconds, and may be up to a second too long; a clock that was set back since the
-- start makes it negative.
local function startedAt(now)
  local uptime = string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(-?%d+)')
  return now - math.max(0, tonumber(uptime) - 1) * 1000
end

-- Answers how long new owners have to wait, and the id of the server; 0 if they need not. A `trusted` server has been
-- in charge for longer than a grace: in a Cluster, a slot that was not used since then needs no second grace.
local function graceLeft(guard, graceMs, trusted)
  local text = redis.call('INFO', 'replication')
  local record = redis.call('GET', guard) or ''
  -- As guard/settled decides it.
  if #record == 54 and string.find(text, record, 1, true) then
    return 0
  end
  local id = string.match(text, 'master_replid:(%x+)')
  if not id then
    error('the server does not tell its replication id, which the guard needs', 0)
  end
  local now = nowMs()
  local reckoned, endsAt = string.match(record, '^(%x+) (%d+)$')
  endsAt = tonumber(endsAt) or 0
  if reckoned and reckoned ~= id then
    -- The grace moved here with its slot, or a promotion interrupted it: its end was set by another clock.
    endsAt = now + graceMs
  elseif not reckoned and not string.find(trusted, id, 1, true) then
    local promoted = not string.find(text, 'master_replid2:0+%s')
    endsAt = (promoted and now or startedAt(now)) + graceMs
  end
  if endsAt <= now then
    redis.call('SET', guard, 'master_replid:' .. id)
    return 0
  end
  -- A later end means that the clock was set back.
  local latest = now + graceMs
  if reckoned ~= id or endsAt > latest then
    endsAt = math.min(endsAt, latest)
    redis.call('SET', guard, string.format('%s %.0f', id, endsAt))
  end
  return endsAt - now, id
end
