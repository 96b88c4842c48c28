--- Takes the lock for a new owner with a token higher than any before, or says how long it is taken.
---
--- The token is one more than the last, and never less than the server's clock in microseconds: it goes on
--- rising when the last one is lost with the server's data. Delivered twice, it makes one hold with one token;
--- delivered after that hold was released or given up, it makes none.
---
--- @key lock         hash    owner -> hold count; its TTL is the lease
--- @key ended        string  there once this owner's hold is over
--- @key token        string  the last token given
--- @arg owner        string
--- @arg leaseMs      integer
--- @arg retentionMs  integer  how long the token is kept after it was given; 0: for ever
--- @returns { 'held', token } | { 'busy', remainingMs } | { 'ended' }
--- @include lib/raise-lease
if leaseMs < 1 or retentionMs < 0 then
  return redis.error_reply('ERR a lease must be positive and a retention not negative')
end
local last = redis.call('GET', token)
if redis.call('EXISTS', lock) == 0 then
  if redis.call('EXISTS', ended) == 1 then
    return { 'ended' }
  end
  local time = redis.call('TIME')
  local micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local given = string.format('%.0f', math.max((tonumber(last) or 0) + 1, micros))
  if retentionMs > 0 then
    redis.call('SET', token, given, 'PX', retentionMs)
  else
    redis.call('SET', token, given)
  end
  redis.call('HSET', lock, owner, 1)
  redis.call('PEXPIRE', lock, leaseMs)
  return { 'held', given }
end
if redis.call('HEXISTS', lock, owner) == 1 then
  raiseLease(lock, leaseMs)
  return { 'held', last or '0' }
end
return { 'busy', redis.call('PTTL', lock) }
