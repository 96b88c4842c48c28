--- Extends the lease of a key to at least this time; a longer lease is never shortened.
--- A key that lost its expiry gets one again.
--- It writes even if nothing changes: a server that may not write is not in charge, and must confirm nothing.
local function raiseLease(key, leaseMs)
  redis.call('PEXPIRE', key, string.format('%.0f', math.max(redis.call('PTTL', key), tonumber(leaseMs))))
end
