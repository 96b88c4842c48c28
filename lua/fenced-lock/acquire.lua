--- Takes the lock for a new owner with a token higher than any before, or says how long the lock is taken.
---
--- The token is one more than the last, and never less than the server's clock in microseconds: tokens keep rising if
--- the last one is lost with the server's data. Delivered twice, the script makes one hold with one token; delivered
--- after that hold was released or given up, none.
---
--- @key lock         hash    owner -> hold count; its TTL is the lease
--- @key ended        string  tombstone: exists once this owner's hold has ended
--- @key token        string  the last token issued
--- @arg owner        string
--- @arg leaseMs      ms
--- @arg retentionMs  integer  how long the token is kept after it was issued; 0: forever
--- @returns { 'held', token } | { 'busy', remainingMs } | { 'ended' }
--- @guarded
--- @include lib/raise-lease
--- @include lib/first-lease
local isFree = redis.call('EXISTS', lock, ended) == 0
if not isFree and redis.call('HEXISTS', lock, owner) == 0 then
  local remainingMs = redis.call('PTTL', lock)
  if remainingMs == -2 then
    return { 'ended' }
  end
  return { 'busy', remainingMs }
end
local given = redis.call('GET', token)
-- A repeat answers the token of the first delivery. If that token is lost by now, a new one keeps the order as well.
if isFree or not given then
  local last = tonumber(string.match(given or '0', '^%d+$'))
  -- Above 2^53 - 1, a client cannot tell a number from the next.
  if not last or last >= 9007199254740991 then
    return redis.error_reply('ERR the last token on the server is not a number that can be increased')
  end
  local time = redis.call('TIME')
  local micros = time[1] * 1000000 + time[2]
  local higher = math.max(last + 1, micros)
  given = string.format('%.0f', higher)
  if retentionMs > 0 then
    -- Kept at least until the clock has passed the token: from then on the clock alone makes the next token higher.
    local keptMs = retentionMs + math.ceil((higher - micros) / 1000)
    redis.call('SET', token, given, 'PX', string.format('%.0f', keptMs))
  else
    redis.call('SET', token, given)
  end
end
if isFree then
  redis.call('HSET', lock, owner, 1)
  firstLease(lock, leaseMs)
else
  raiseLease(lock, leaseMs)
end
return { 'held', given }
