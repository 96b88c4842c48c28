--- Describes the content of a lock's key, for people. Changes nothing.
---
--- A read/write lock is a hash whose `mode` says how it is held and whose other fields are counts. Another hash may be
--- huge and happen to have a `mode`: one with more than MOST_FIELDS fields is not read.
---
--- @key lock     any     a lock of any kind, or something else
--- @returns { 'free' } | { 'lock', remainingMs, holder: string, holdCount } | { 'simple', remainingMs, holder: string } | { 'readWrite', remainingMs, mode: string, holders: string... } | { 'other', type: string }
--- @include lib/list-readers
--- @include lib/sole-holder
--- @include lib/short-text
local MOST_FIELDS = 10000
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
  local mode = redis.call('HGET', lock, 'mode')
  local fields = redis.call('HLEN', lock)
  if (mode == 'read' or mode == 'write') and fields > 1 and fields <= MOST_FIELDS then
    local reply = { 'readWrite', remainingMs, mode }
    listReaders(reply, lock)
    if #reply == 3 + 2 * (fields - 1) then
      return reply
    end
  end
elseif kind == 'string' and remainingMs >= 0 then
  return { 'simple', remainingMs, shortText(redis.call('GET', lock)) }
end
return { 'other', kind }
