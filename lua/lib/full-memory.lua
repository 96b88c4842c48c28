--- Lets the writes that follow pass though the server is out of memory, for scripts that give something back or
--- note that something is over.
---
--- A server refuses growing commands only until a script has written anything, and DEL it never refuses. The
--- key must be one that may be missing: the request's own answer or marker, before it is written.
local function ignoreFullMemory(answer)
  redis.call('DEL', answer)
end
