--- Shows a token to a register and answers the newest token that the register has seen, this one included.
--- Each writer numbers its writes within one token: with a newer token the numbers start again.
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
