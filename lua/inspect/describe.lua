--- Describes whatever stands under a lock's name, for people. Nothing is changed.
---
--- @key lock     any     a lock of any kind, or something else
--- @returns { 'free' } | { 'lock', remainingMs, holder: string, holdCount } | { 'simple', remainingMs, holder: string } | { 'other', type: string }
--- @include lib/sole-holder
--- @include lib/short-text
local kind = redis.call('TYPE', lock).ok
if kind == 'none' then
  return { 'free' }
end
local remainingMs = redis.call('PTTL', lock)
if kind == 'hash' then
  local holder, holdCount = soleHolder(lock)
  if holder and holdCount > 0 then
    return { 'lock', remainingMs, holder, holdCount }
  end
elseif kind == 'string' and remainingMs >= 0 then
  return { 'simple', remainingMs, shortText(redis.call('GET', lock)) }
end
return { 'other', kind }
