--- Reads the count of a latch. A missing key is an open latch; a value that is not a number is no latch: nil.
local function countLeft(latch)
  return tonumber(redis.call('GET', latch) or '0')
end
