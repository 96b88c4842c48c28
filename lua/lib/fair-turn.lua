--- One attempt of an owner at a fair lock: it takes the lock if that is free and no waiter is ahead; otherwise it
--- queues up, unless `waitMs` is 0.
---
--- During a grace, an owner only takes and keeps its place. A hold of it that the server has is not renewed then: the
--- server may have forgotten that this hold ended, and which hold came after it.
---
--- @include lib/raise-lease
--- @include lib/now
--- @include lib/fair-queue
--- @include lib/fair-place
--- @include lib/first-lease
local function takeTurn(lock, queue, timeouts, seen, ended, owner, leaseMs, waitMs, silentMs, publish, channel, isKeptOut)
  if not isKeptOut and redis.call('EXISTS', lock, ended, queue, timeouts, seen) == 0 then
    redis.call('HSET', lock, owner, 1)
    firstLease(lock, leaseMs)
    return { 'held' }
  end
  if redis.call('HEXISTS', lock, owner) == 1 then
    if not isKeptOut then
      raiseLease(lock, leaseMs)
    end
    return { 'held' }
  end
  if redis.call('EXISTS', ended) == 1 then
    return { 'ended' }
  end
  local now = nowMs()
  local head, swept = sweepQueue(queue, timeouts, seen, owner, now, silentMs)
  local remainingMs = redis.call('PTTL', lock)
  local isFree = remainingMs == -2
  if isFree and not isKeptOut and (not head or head == owner) then
    leaveQueue(queue, timeouts, seen, owner)
    redis.call('HSET', lock, owner, 1)
    firstLease(lock, leaseMs)
    return { 'held' }
  end
  if isFree and swept then
    callHead(head, publish, channel)
  end
  if waitMs == 0 then
    return { 'busy', remainingMs }
  end
  local place = redis.call('LPOS', queue, owner)
  if place then
    keepPlace(timeouts, seen, owner, now, math.max(0, remainingMs), waitMs, silentMs)
  else
    place = takePlace(queue, timeouts, seen, owner, now, math.max(0, remainingMs), waitMs, silentMs)
  end
  if place == 0 then
    return { 'queued', remainingMs }
  end
  if place == 1 and isFree then
    return { 'queued', deadInMs(timeouts, seen, head, now) }
  end
  return { 'queued', -1 }
end
