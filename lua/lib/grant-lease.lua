--- Gives what was just written its lease. Where the server refuses that, for want of permission, what was written is
--- taken back first: a lock without expiry would keep everybody out for ever. The expiry cannot be tried before the
--- write, since a server out of memory lets everything pass that follows a first write.
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
