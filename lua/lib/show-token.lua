--- Shows a token to a register and answers the newest that it has seen, this one included.
--- Writes are numbered within one token, by each writer for itself: with a newer token the numbers start anew.
local function showToken(register, token)
  local newest = tonumber(redis.call('HGET', register, 'newest')) or 0
  if token <= newest then
    return newest
  end
  redis.call('HSET', register, 'newest', string.format('%.0f', token))
  for _, field in ipairs(redis.call('HKEYS', register)) do
    if string.sub(field, 1, 7) == 'writer:' then
      redis.call('HDEL', register, field)
    end
  end
  return token
end
