--- Describes whatever is under a name, for people: a lock of any kind, a synchronizer, or something else. Changes
--- nothing.
---
--- The layout tells. A hash with one owner and its count is a lock: a fair lock while it has a queue, a fenced lock if a
--- token was issued. A read/write lock is a hash whose `mode` says how it is held and whose other fields are counts. A
--- rate limiter has a rate, an interval and a type. Another hash may be huge and happen to have a `mode`: one with more
--- than MOST_FIELDS fields is not read. A short whole number is the permits of a semaphore with leases if there is a
--- set of permits; otherwise it may be a semaphore, a latch, or any counter. A string with an expiry may be a plain lock.
---
--- @key lock     any     the main key of a lock or synchronizer, or something else
--- @key queue    list    the waiters of a fair lock, of whom the first MOST_WAITERS are named
--- @key token    string  the last token of a fenced lock
--- @key ends     zset    permit id -> end of its lease
--- @returns { 'free' }
---   | { 'lock', remainingMs, holder: string, holdCount }
---   | { 'fair', remainingMs, holder: string, holdCount, waiters: string... }
---   | { 'fenced', remainingMs, holder: string, holdCount, lastToken }
---   | { 'readWrite', remainingMs, mode: string, holders: string... }
---   | { 'simple', remainingMs, holder: string }
---   | { 'permitSemaphore' } | { 'rateLimiter' } | { 'counter', count } | { 'other', type: string }
--- @include lib/list-readers
--- @include lib/sole-holder
--- @include lib/short-text
local MOST_FIELDS = 10000
local MOST_WAITERS = 1000
local MOST_DIGITS = 16

local function typeOf(key)
  return redis.call('TYPE', key).ok
end

-- A number that every client can read; anything else is user data.
local function wholeNumber(text)
  local number = tonumber(string.match(text or '', '^%-?%d+$'))
  return number and math.abs(number) < 2 ^ 53 and number or nil
end

-- Text that is longer than any number is not read at all.
local function numberAt(key)
  local size = redis.pcall('STRLEN', key)
  return type(size) == 'number' and size <= MOST_DIGITS and wholeNumber(redis.call('GET', key)) or nil
end

-- The reply for a lock that one owner at a time holds; without a holder if only its queue or its token exists.
local function exclusive(remainingMs, holder, holdCount)
  if typeOf(queue) == 'list' then
    local reply = { 'fair', remainingMs, holder, holdCount }
    for _, waiter in ipairs(redis.call('LRANGE', queue, 0, MOST_WAITERS - 1)) do
      reply[#reply + 1] = waiter
    end
    return reply
  end
  local lastToken = typeOf(token) == 'string' and numberAt(token)
  if lastToken then
    return { 'fenced', remainingMs, holder, holdCount, lastToken }
  end
  if holder == '' then
    return { 'free' }
  end
  return { 'lock', remainingMs, holder, holdCount }
end

local kind = typeOf(lock)
if kind == 'none' then
  return exclusive(-2, '', 0)
end
local remainingMs = redis.call('PTTL', lock)
if kind == 'hash' then
  local holder, holdCount = soleHolder(lock)
  if holder and holdCount > 0 then
    return exclusive(remainingMs, holder, holdCount)
  end
  local fields = redis.call('HLEN', lock)
  local rate, interval, who = unpack(redis.call('HMGET', lock, 'rate', 'interval', 'type'))
  if fields <= 4 and wholeNumber(rate) and wholeNumber(interval) and (who == '0' or who == '1') then
    return { 'rateLimiter' }
  end
  local mode = redis.call('HGET', lock, 'mode')
  if (mode == 'read' or mode == 'write') and fields > 1 and fields <= MOST_FIELDS then
    local reply = { 'readWrite', remainingMs, mode }
    listReaders(reply, lock)
    if #reply == 3 + 2 * (fields - 1) then
      return reply
    end
  end
elseif kind == 'string' then
  local count = numberAt(lock)
  if count and typeOf(ends) == 'zset' then
    return { 'permitSemaphore' }
  end
  if remainingMs >= 0 then
    return { 'simple', remainingMs, shortText(redis.call('GET', lock)) }
  end
  if count then
    return { 'counter', count }
  end
end
return { 'other', kind }
