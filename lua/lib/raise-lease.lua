--- Gives the key at least this much time; a longer lease that is running is never cut.
--- A key that lost its expiry gets one again.
local function raiseLease(key, leaseMs)
  if redis.call('PTTL', key) < leaseMs then
    redis.call('PEXPIRE', key, string.format('%.0f', leaseMs))
  end
end
