--- Sets the lease of a key that was just created. If the server refuses that, for lack of permission, the key is
--- removed first: a lock without expiry would stay taken forever. The expiry cannot be tried before the write, because
--- a server out of memory accepts every write after a first one.
local function firstLease(key, leaseMs)
  if type(redis.pcall('PEXPIRE', key, leaseMs)) ~= 'number' then
    redis.call('DEL', key)
    redis.call('PEXPIRE', key, leaseMs)
  end
end
