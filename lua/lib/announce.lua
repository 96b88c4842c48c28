--- Wakes whoever waits on the channel; answers 1 when the server took the message, 0 when it refused.
--- A caller without permission to publish must still be able to release, hence the pcall: its waiters poll.
local function announce(publish, channel, message)
  local receivers = redis.pcall(publish, channel, message)
  if type(receivers) == 'number' then
    return 1
  end
  return 0
end
