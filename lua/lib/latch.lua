--- Reads the count of a latch. A missing key is an open latch; what is no number is nil: it is not ours.
local function countLeft(latch)
  return tonumber(redis.call('GET', latch) or '0')
end
