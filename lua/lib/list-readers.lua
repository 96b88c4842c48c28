--- Adds the holders of a read/write lock to a reply, each with its count; in read mode these are the readers. The
--- client derives their hold keys from the reply, because a script may use only keys that are passed to it.
local function listReaders(reply, lock)
  local fields = redis.call('HGETALL', lock)
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' and string.match(fields[i + 1], '^%d+$') then
      reply[#reply + 1] = fields[i]
      reply[#reply + 1] = fields[i + 1]
    end
  end
  return reply
end
