--- Gives the key at least this much time; a longer lease that is running is never cut.
--- A key that lost its expiry gets one again.
--- It is written also when nothing changes: a server that may not write is not in charge, and must confirm nothing.
local function raiseLease(key, leaseMs)
  redis.call('PEXPIRE', key, string.format('%.0f', math.max(redis.call('PTTL', key), tonumber(leaseMs))))
end
