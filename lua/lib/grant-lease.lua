--- Sets the lease of a key that was just written. If the server refuses that, for lack of permission, the write is
--- undone first: a lock without expiry would stay taken forever. The expiry cannot be tried before the write, because
--- a server out of memory accepts every write after a first one.
local function grantLease(key, leaseMs, undo)
  local lease = string.format('%.0f', leaseMs)
  local leftMs = redis.pcall('PTTL', key)
  if type(leftMs) == 'number' and leftMs >= leaseMs then
    return
  end
  if type(redis.pcall('PEXPIRE', key, lease)) ~= 'number' then
    undo()
    redis.call('PEXPIRE', key, lease)
  end
end
