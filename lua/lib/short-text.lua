--- Shortens a value for people: the key of a plain lock may hold unrelated data of any size.
local function shortText(value)
  return string.sub(value, 1, 128)
end
