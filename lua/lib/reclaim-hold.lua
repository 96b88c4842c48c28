--- Restores a hold of a lock that is a hash with its owner as the only field.
---
--- @include lib/raise-lease
--- @include lib/first-lease
--- @include lib/may-reclaim
local function reclaimHold(lock, owner, count, leaseMs, ended, guard, graceMs, trusted)
  if redis.call('HEXISTS', lock, owner) == 1 then
    raiseLease(lock, leaseMs)
    return { 'held' }
  end
  if not mayReclaim(ended, guard, graceMs, trusted) then
    return { 'lost' }
  end
  if redis.call('EXISTS', lock) == 1 then
    return { 'taken' }
  end
  redis.call('HSET', lock, owner, count)
  firstLease(lock, leaseMs)
  return { 'held' }
end
