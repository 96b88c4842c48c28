--- Deletes the plain lock if it still has the named token, and wakes the waiters. Any other token is left alone.
---
--- The answer is remembered: libraries may use a token again, and a repeat must not end the next hold.
---
--- @key lock        string  the holder's token; its TTL is the lease
--- @key answer      string  the remembered reply to this request
--- @arg holder      string  the name of the token at the time of the call
--- @arg publish     string  PUBLISH or SPUBLISH
--- @arg channel     string
--- @arg rememberMs  ms
--- @returns { 'ended', announced }
--- @include lib/announce
--- @include lib/full-memory
--- @include lib/remember
--- @include lib/token-name
local before = recall(answer)
if before then
  return before
end
ignoreFullMemory(answer)
local reply = { 'ended', 1 }
local token = redis.call('GET', lock)
if token and tokenName(token) == holder then
  redis.call('DEL', lock)
  reply[2] = announce(publish, channel, '0')
end
remember(answer, rememberMs, reply)
return reply
