--- The queue of a fair lock, shared with Redisson's waiters: who has to go, and what that means for the others.
---
--- Redisson gives every waiter a time at which it counts as dead, and adds up into that time the waits of all
--- before it. Whoever goes earlier hands its own wait back: it is taken off the times of those behind.
--- Our waiters also say every few seconds that they live. What they say is kept in a hash of our own, for each
--- of them `<heard at> <may be silent for> <wait that was added>`. Of these only the silent ones are dropped;
--- a waiter without such a note is Redisson's, and goes by Redisson's rule.
---
--- @include lib/announce
local EVERYONE = 'everyone'

local function noteOf(seen, waiter)
  local note = redis.call('HGET', seen, waiter)
  local heardAt, silentMs, waitMs = string.match(note or '', '^(%d+) (%d+) (%d+)$')
  return tonumber(heardAt), tonumber(silentMs), tonumber(waitMs)
end

-- When all fell silent at once, the server stood still, or its clock was set: all get time to be heard again.
-- That waiters can be heard is shown by an acquisition only: a release or a withdrawal may get through alone.
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

-- Drops the dead from the head of the queue; answers the new head, and whether anybody was dropped. The owner whose
-- acquisition this is, if it is one, is alive, however long it was not heard of.
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
      -- Past its time the wait is used up, and nobody behind it gets it back: so has Redisson.
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

-- Takes a waiter out of the queue, wherever it stands; answers whether it was in it.
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

-- Tells the head, if there is one, that it may try; answers 0 only when the server refused the message.
local function callHead(head, publish, channel)
  if not head then
    return 1
  end
  return announce(publish, channel .. ':' .. head, '0')
end
