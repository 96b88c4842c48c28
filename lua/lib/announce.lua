--- Wakes whoever waits on the channel; answers 1 when the server took the message, 0 when it refused.
--- Servers before version 7 know no sharded channels: there everybody uses plain ones, in a Cluster too.
--- A caller without permission to publish must still be able to release, hence the pcall: its waiters poll.
local function announce(publish, channel, message)
  local receivers = redis.pcall(publish, channel, message)
  if publish == 'SPUBLISH' and type(receivers) == 'table' and string.find(receivers.err, 'nknown', 1, true) then
    receivers = redis.pcall('PUBLISH', channel, message)
  end
  if type(receivers) == 'number' then
    return 1
  end
  return 0
end
