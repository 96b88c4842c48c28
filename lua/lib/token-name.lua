--- The name by which clients know the token of a plain lock: the token itself, or its digest if it is long or has bytes
--- that a client would not read as text. Redlock-style libraries may use any bytes.
local function tokenName(token)
  if #token > 128 or string.find(token, '[^\32-\126]') then
    return redis.sha1hex(token)
  end
  return token
end
