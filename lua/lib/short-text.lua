--- A value as shown to people. What stands under the key of a plain lock may be anybody's data, of any size.
local function shortText(value)
  return string.sub(value, 1, 128)
end
