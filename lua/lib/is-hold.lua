--- Whether a field of a hash is an owner's hold and not user data: its value is a hold count, and a lock has an expiry.
--- If the expiry was lost, owners of Redisson and holdfast are recognised by their form, `<uuid>:<number>`.
local function isHold(field, count, hasExpiry)
  local isOwner = string.find(field, '^%x+%-%x+%-%x+%-%x+%-%x+:%d')
  return string.find(count, '^[1-9]%d*$') and (hasExpiry or isOwner)
end
