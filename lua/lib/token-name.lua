--- What a client is told of the token of a plain lock, to name it by: the token itself, or its digest where it is long
--- or has bytes that a client would not read as text. Redlock-style libraries may use any bytes.
local function tokenName(token)
  if #token > 128 or string.find(token, '[^\32-\126]') then
    return redis.sha1hex(token)
  end
  return token
end
