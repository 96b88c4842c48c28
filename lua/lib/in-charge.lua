--- Raises the error of a server that may not write: it is not in charge, and must not say that a hold is lost. Removing
--- a field with an empty name is a write that changes nothing, whatever the key holds.
local function assertInCharge(key)
  local removed = redis.pcall('HDEL', key, '')
  if type(removed) == 'table' and not string.find(removed.err, 'WRONGTYPE', 1, true) then
    redis.call('HDEL', key, '')
  end
end
