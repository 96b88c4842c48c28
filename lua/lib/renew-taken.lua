--- Answers a repeat of an acquisition of permits: if one of the ids is taken, an earlier delivery took all of them.
---
--- @include lib/expiring-permits
local function renewTaken(timeouts, ids, leaseMs, score)
  local isTaken = false
  for _, id in ipairs(ids) do
    local present = endsAt(timeouts, id)
    isTaken = isTaken or present ~= nil
    -- A permanent permit that has an expiry now got it later, by a change of its lease.
    if present and present < score and leaseMs ~= -1 then
      redis.call('ZADD', timeouts, string.format('%.0f', score), id)
    end
  end
  if not isTaken then
    return false
  end
  -- Written again, because on newer servers WAIT covers only the writes of the connection that sends it.
  local ttlMs = redis.call('PTTL', timeouts)
  if ttlMs >= 0 then
    redis.call('PEXPIRE', timeouts, math.max(ttlMs, 1))
  else
    redis.call('PEXPIRE', timeouts, 60000)
    redis.call('PERSIST', timeouts)
  end
  return true
end
