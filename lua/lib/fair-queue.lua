--- The queue of a fair lock, shared with Redisson's waiters: which waiters are dropped, and how other timeouts change.
---
--- Redisson gives every waiter a timeout, at which it counts as dead, and adds the waits of all waiters before it. If a
--- waiter leaves earlier, its own wait is subtracted from the timeouts of the waiters behind.
--- Waiters of holdfast also give a sign of life every few seconds. Each has a note in a separate hash:
--- `<heard at> <may be silent for> <wait that was added>`. Of these waiters only silent ones are dropped; a waiter
--- without a note is Redisson's, and Redisson's rule decides.
---
--- @include lib/announce
local EVERYONE = 'everyone'

local function noteOf(seen, waiter)
  local note = redis.call('HGET', seen, waiter)
  local heardAt, silentMs, waitMs = string.match(note or '', '^(%d+) (%d+) (%d+)$')
  return tonumber(heardAt), tonumber(silentMs), tonumber(waitMs)
end

-- If all waiters fell silent at once, the server stood still or its clock was set: all get time for a new sign of life.
-- Only an acquisition shows that waiters reach the server: a release or a withdrawal may get through alone.
local function mayDropSilent(seen, acquiring, now, silentMs)
  local note = redis.call('HGET', seen, EVERYONE)
  if not note then
    return false
  end
  local heardAt, spareUntil = string.match(note, '^(%d+) (%d+)$')
  heardAt, spareUntil = tonumber(heardAt), tonumber(spareUntil)
  if math.abs(now - heardAt) > silentMs * 2 / 3 then
    spareUntil = now + silentMs
  end
  if acquiring then
    redis.pcall('HSET', seen, EVERYONE, string.format('%.0f %.0f', now, spareUntil))
  end
  return spareUntil < now
end

local function forget(seen, waiter)
  if redis.call('HDEL', seen, waiter) == 1 and redis.call('HLEN', seen) == 1 then
    redis.call('DEL', seen)
  end
end

local function handBack(timeouts, waiters, waitMs)
  local change = string.format('%.0f', -waitMs)
  for _, waiter in ipairs(waiters) do
    redis.call('ZADD', timeouts, 'XX', 'INCR', change, waiter)
  end
end

-- Drops dead waiters from the head of the queue; answers the new head, and whether a waiter was dropped. `acquiring` is
-- the owner that acquires now, or false: that owner is alive, however long it was silent.
local function sweepQueue(queue, timeouts, seen, acquiring, now, silentMs)
  local dropSilent = mayDropSilent(seen, acquiring, now, silentMs)
  local handedBackMs = 0
  local swept = false
  local head = redis.call('LINDEX', queue, 0)
  while head and head ~= acquiring do
    local diesAt = tonumber(redis.call('ZSCORE', timeouts, head))
    local isOver = diesAt ~= nil and diesAt <= now
    local heardAt, maySilentMs, waitMs = noteOf(seen, head)
    if heardAt then
      if not (dropSilent and math.abs(now - heardAt) > maySilentMs) then
        break
      end
      -- After its timeout a waiter's wait is used up and not subtracted, as in Redisson.
      handedBackMs = handedBackMs + (isOver and 0 or waitMs)
    elseif not isOver then
      break
    end
    redis.call('LPOP', queue)
    redis.call('ZREM', timeouts, head)
    forget(seen, head)
    swept = true
    head = redis.call('LINDEX', queue, 0)
  end
  if handedBackMs > 0 then
    handBack(timeouts, redis.call('LRANGE', queue, 0, -1), handedBackMs)
  end
  return head, swept
end

-- Removes a waiter from the queue, at whatever place; answers whether it was there.
local function leaveQueue(queue, timeouts, seen, waiter)
  local place = redis.call('LPOS', queue, waiter)
  local _, _, waitMs = noteOf(seen, waiter)
  redis.call('ZREM', timeouts, waiter)
  forget(seen, waiter)
  if not place then
    return false
  end
  local behind = redis.call('LRANGE', queue, place + 1, -1)
  redis.call('LREM', queue, 0, waiter)
  if waitMs then
    handBack(timeouts, behind, waitMs)
  end
  return true
end

-- Wakes the head, if there is one; answers 0 only when the server refused the message.
local function callHead(head, publish, channel)
  if not head then
    return 1
  end
  return announce(publish, channel .. ':' .. head, '0')
end
