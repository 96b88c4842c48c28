--- The server's time in whole milliseconds, the only clock that a script looks at.
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
