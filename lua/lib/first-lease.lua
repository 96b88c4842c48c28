--- Gives a key that was just made its lease. Where the server refuses that, for want of permission, the key is removed
--- first: a lock without expiry would keep everybody out for ever. The expiry cannot be tried before the write, since
--- a server out of memory lets everything pass that follows a first write.
local function firstLease(key, leaseMs)
  if type(redis.pcall('PEXPIRE', key, leaseMs)) ~= 'number' then
    redis.call('DEL', key)
    redis.call('PEXPIRE', key, leaseMs)
  end
end
