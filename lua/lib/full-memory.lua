--- Lets the writes that follow pass though the server is out of memory, for scripts that give something back.
---
--- A server refuses growing commands only until a script has written anything, and DEL it never refuses. The
--- key must be one that may be missing: the request's own answer, before it is remembered.
local function ignoreFullMemory(answer)
  redis.call('DEL', answer)
end
