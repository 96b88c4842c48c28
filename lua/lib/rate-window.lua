--- The grants of a rate limiter within its interval, and the permits that are left.
---
--- Each grant has one entry: a byte with the length of the random bytes, those bytes, and the number of permits in four
--- bytes, low byte first. Redisson writes 16 random bytes, before 3.21 it wrote 8, and before 3.17 the length was
--- longer: in all versions, the number is in the last four bytes.
--- A separate key has the number of permits left, so that a grant need not sum the history: both add up to the rate. A
--- release by Redisson raises the number and leaves the entries. The history is summed if that is cheap, or if the
--- number is missing or must be wrong: evicted, edited, or of a rate that was lowered.
local FEW = 128

local function whole(number)
  return string.format('%.0f', number)
end

local function entryOf(id, count)
  return struct.pack('<Bc0I4', #id, id, count)
end

local function permitsOf(entry)
  if #entry < 8 then
    error('the history of the rate limiter holds something that is no entry', 0)
  end
  return (struct.unpack('<I4', entry, #entry - 3))
end

--- Answers the permits of all entries with scores in this range, and the number of these entries.
local function permitsBetween(history, least, most)
  local entries = redis.call('ZRANGEBYSCORE', history, least, most)
  local permits = 0
  for _, entry in ipairs(entries) do
    permits = permits + permitsOf(entry)
  end
  return permits, #entries
end

local function usedNow(limit)
  return (permitsBetween(limit.history, '(' .. whole(limit.horizon), '+inf'))
end

--- Answers how many permits are left, exactly if fewer than `wanted` seem to be; how many are used, if that was summed;
--- and how many entries are too old to count. Reads only.
---
--- After a release by Redisson, the permits left and used add up to more than the rate: its entries are still there.
--- The entries that expire first are taken to be the released ones, so that the permits left never exceed the rate.
local function lookAt(limit, wanted)
  local history, rate = limit.history, limit.rate
  local expired, expiredCount = permitsBetween(history, '-inf', whole(limit.horizon))
  local text = redis.call('GET', limit.value)
  local left = tonumber(text)
  if text and not left then
    error('the key holds something that is not a number of permits', 0)
  end
  limit.stored = left
  if not left or left > rate then
    local used = usedNow(limit)
    return rate - used, used, expiredCount
  end
  if left >= wanted and expiredCount == 0 then
    return left, nil, 0
  end
  if redis.call('ZCARD', history) - expiredCount <= FEW then
    local used = usedNow(limit)
    return math.max(left, rate - used), used, expiredCount
  end
  if left + expired > rate then
    local used = usedNow(limit)
    return rate - used, used, expiredCount
  end
  return left + expired, nil, expiredCount
end

--- Drops entries that are too old. An entry more than one interval ahead was written by a clock that runs ahead, or
--- before this clock was set back: it counts from now on, or it would block all callers until then.
local function tidy(limit, expiredCount)
  if expiredCount > 0 then
    redis.call('ZREMRANGEBYSCORE', limit.history, '-inf', whole(limit.horizon))
  end
  local ahead = '(' .. whole(limit.now + limit.intervalMs)
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', limit.history, ahead, '+inf')) do
    redis.call('ZADD', limit.history, whole(limit.now), entry)
  end
end

local function storeLeft(limit, left)
  if left ~= limit.stored then
    redis.call('SET', limit.value, whole(left))
  end
end

--- Sums entries, the oldest first, until they have that many permits. Answers the time of the last entry and the sum;
--- nil and the sum of all entries if they have fewer. The history must be tidy.
local function grantedAt(limit, permits)
  local freed, from, size = 0, 0, 8
  while true do
    local page = redis.call('ZRANGE', limit.history, from, from + size - 1, 'WITHSCORES')
    for i = 1, #page, 2 do
      freed = freed + permitsOf(page[i])
      if freed >= permits then
        return tonumber(page[i + 1]), freed
      end
    end
    if #page < 2 * size then
      return nil, freed
    end
    -- Most calls need one entry, some need hundreds.
    from, size = from + size, size * 8
  end
end

--- Removes that many permits from the history, the oldest first; answers how many there were. Oldest first: whichever
--- permits were given back, the others stay in the window at least as long as their own entries would.
local function takeOut(limit, permits)
  local taken = 0
  while true do
    local page = redis.call('ZRANGE', limit.history, 0, 99, 'WITHSCORES')
    for i = 1, #page, 2 do
      if taken == permits then
        return taken
      end
      local entry, inEntry = page[i], permitsOf(page[i])
      local out = math.min(inEntry, permits - taken)
      redis.call('ZREM', limit.history, entry)
      if out < inEntry then
        redis.call('ZADD', limit.history, page[i + 1], string.sub(entry, 1, -5) .. struct.pack('<I4', inEntry - out))
      end
      taken = taken + out
    end
    if #page == 0 then
      return taken
    end
  end
end
