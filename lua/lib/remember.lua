--- Remembers the reply to a request, for scripts that change a number by a difference: a repeat, or a copy that arrives
--- late, gets the reply of the first run and changes nothing.
---
--- The key belongs to one request (`answerKey` of keys.ts, with an id that is never used again) and is declared
--- as `@key answer string`. The pattern, once the arguments are checked:
---
---   local before = recall(answer)
---   if before then
---     return before
---   end
---   … change …
---   local reply = { 'word', number }
---   remember(answer, rememberMs, reply)
---   return reply
---
--- Remember refusals too if a late copy could find what the first run did not: a reply is final only if every reply is.
--- Numbers are recalled as decimal text, which scripts may send as well.
---
--- @include lib/full-memory
local function recall(answer)
  local text = redis.call('GET', answer)
  if not text then
    return nil
  end
  return cjson.decode(text)
end

local function remember(answer, rememberMs, reply)
  local words = {}
  for i, word in ipairs(reply) do
    words[i] = type(word) == 'number' and string.format('%.0f', word) or word
  end
  local text = cjson.encode(words)
  if redis.pcall('SET', answer, text, 'PX', rememberMs).err then
    ignoreFullMemory(answer)
    redis.pcall('SET', answer, text, 'PX', rememberMs)
  end
end
