--- Adds the holders of a read/write lock to a reply, each with its count; of one that is held for reading these are
--- the readers. Whoever gets them can name their hold keys, which no script may use without being told.
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
