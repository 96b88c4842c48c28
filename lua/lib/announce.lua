--- Wakes the waiters on the channel.
--- Servers before version 7 have no sharded channels: there all clients use plain ones, in a Cluster too.
--- A caller without permission to publish must still be able to release, hence the pcall: its waiters poll.

-- Answers how many subscribers got the message; -1 when the server refused it.
local function tell(publish, channel, message)
  local receivers = redis.pcall(publish, channel, message)
  if publish == 'SPUBLISH' and type(receivers) == 'table' and string.find(receivers.err, 'nknown', 1, true) then
    receivers = redis.pcall('PUBLISH', channel, message)
  end
  if type(receivers) == 'number' then
    return receivers
  end
  return -1
end

-- Answers 1 when the server accepted the message, 0 when it refused.
local function announce(publish, channel, message)
  return tell(publish, channel, message) >= 0 and 1 or 0
end
