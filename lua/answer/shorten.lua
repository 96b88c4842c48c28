--- Shortens how long answers are remembered: one that has arrived is needed only for late copies of its request.
---
--- @keys answers    string  the remembered reply to a request
--- @arg rememberMs  ms
--- @returns { 'shortened' }
for _, answer in ipairs(answers) do
  redis.call('PEXPIRE', answer, rememberMs)
end
return { 'shortened' }
