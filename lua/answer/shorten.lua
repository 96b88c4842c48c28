--- Shortens how long answers are remembered: those that have arrived are needed only for copies on their way.
---
--- @keys answers    string  what a request was answered
--- @arg rememberMs  integer
--- @returns { 'shortened' }
if rememberMs < 1 then
  return redis.error_reply('ERR a time to remember must be positive')
end
for _, answer in ipairs(answers) do
  redis.call('PEXPIRE', answer, rememberMs)
end
return { 'shortened' }
