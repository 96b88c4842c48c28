--- Shortens how long answers are remembered: those that have arrived are needed only for copies on their way.
---
--- @keys answers    string  what a request was answered
--- @arg rememberMs  ms
--- @returns { 'shortened' }
for _, answer in ipairs(answers) do
  redis.call('PEXPIRE', answer, rememberMs)
end
return { 'shortened' }
