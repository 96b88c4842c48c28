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
--- The words of a reply have no spaces. Numbers are recalled as decimal text, which scripts may send as well.
---
--- @include lib/full-memory
local function recall(answer)
  local text = redis.call('GET', answer)
  if not text then
    return nil
  end
  local reply = {}
  for word in string.gmatch(text, '%S+') do
    reply[#reply + 1] = word
  end
  return reply
end

local function remember(answer, rememberMs, reply)
  local text = reply[1]
  for i = 2, #reply do
    local word = reply[i]
    text = text .. ' ' .. (type(word) == 'number' and string.format('%.0f', word) or word)
  end
  if redis.pcall('SET', answer, text, 'PX', rememberMs).err then
    ignoreFullMemory(answer)
    redis.pcall('SET', answer, text, 'PX', rememberMs)
  end
end
