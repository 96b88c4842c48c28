--- How a waiter of holdfast takes and keeps its place in the queue of a fair lock.
---
--- @include lib/fair-queue

-- A note goes with its waiter. If all waiters die, the notes expire once Redisson's rule suffices to drop the waiters.
local function note(seen, waiter, now, silentMs, waitMs, diesAt)
  redis.pcall('HSET', seen, waiter, string.format('%.0f %.0f %.0f', now, silentMs, waitMs))
  redis.pcall('HSETNX', seen, EVERYONE, string.format('%.0f 0', now))
  local keepMs = math.min(diesAt - now + silentMs, 2 ^ 53)
  if redis.call('PTTL', seen) < keepMs then
    redis.call('PEXPIRE', seen, string.format('%.0f', keepMs))
  end
end

-- Redisson's arithmetic, because Redisson's clients reverse it: a waiter's timeout is the last waiter's timeout, or the
-- end of the lease if that is later, plus the waiter's own wait. Answers the place, counted from 0.
local function takePlace(queue, timeouts, seen, waiter, now, leaseLeftMs, waitMs, silentMs)
  local startsAt = now + leaseLeftMs
  local last = redis.call('LINDEX', queue, -1)
  if last then
    startsAt = math.max(startsAt, tonumber(redis.call('ZSCORE', timeouts, last)) or 0)
  end
  redis.call('ZADD', timeouts, string.format('%.0f', startsAt + waitMs), waiter)
  note(seen, waiter, now, silentMs, waitMs, startsAt + waitMs)
  return redis.call('RPUSH', queue, waiter) - 1
end

-- Postpones the timeout by the time since the last sign of life, which does not count against a live waiter. If another
-- client's arithmetic lowered or removed the timeout, it becomes at least that of a head.
local function keepPlace(timeouts, seen, waiter, now, leaseLeftMs, waitMs, silentMs)
  local heardAt, _, addedMs = noteOf(seen, waiter)
  local diesAt = tonumber(redis.call('ZSCORE', timeouts, waiter)) or 0
  diesAt = math.max(diesAt + math.max(0, now - (heardAt or now)), now + leaseLeftMs + (addedMs or waitMs))
  redis.pcall('ZADD', timeouts, string.format('%.0f', diesAt), waiter)
  note(seen, waiter, now, silentMs, addedMs or waitMs, diesAt)
end

-- How long until a waiter that stays silent counts as dead; -1 when that is unknown.
local function deadInMs(timeouts, seen, waiter, now)
  local heardAt, silentMs = noteOf(seen, waiter)
  local diesAt = heardAt and heardAt + silentMs or tonumber(redis.call('ZSCORE', timeouts, waiter)) or 0
  if diesAt < now then
    return -1
  end
  return math.min(diesAt - now + 1, 2 ^ 31)
end
