--- Whether a field of a hash is an owner's hold, and not a user's data: its value counts the holds, and a lock has an
--- expiry. Where that is lost, Redisson's owners and ours are known by their form, `<uuid>:<number>`.
local function isHold(field, count, hasExpiry)
  local isOwner = string.find(field, '^%x+%-%x+%-%x+%-%x+%-%x+:%d')
  return string.find(count, '^[1-9]%d*$') and (hasExpiry or isOwner)
end
