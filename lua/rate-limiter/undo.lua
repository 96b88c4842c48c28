--- Undoes a request that its caller gave up: removes its entry, gives its permits back, and bars it if it has not run
--- yet.
---
--- Both histories are searched, because the mode of the limiter may have changed since. Done twice, it gives back once.
---
--- @key config          hash    rate, interval, type, keepAliveTime
--- @key overallValue    string  permits left for all clients
--- @key overallHistory  zset    entry -> grant time, for all clients
--- @key clientValue     string  permits left for this client
--- @key clientHistory   zset    entry -> grant time, for this client
--- @key answer          string  marks this request as granted or undone
--- @arg count           integer
--- @arg id              bytes    16 random bytes
--- @arg rememberMs      ms
--- @returns { 'returned' } | { 'barred' }
--- @include lib/full-memory
--- @include lib/rate-window
local rate = tonumber(redis.call('HGET', config, 'rate'))
ignoreFullMemory(answer)
local reply = { 'barred' }
for value, history in pairs({ [overallValue] = overallHistory, [clientValue] = clientHistory }) do
  if redis.call('ZREM', history, entryOf(id, count)) == 1 then
    reply = { 'returned' }
    local left = tonumber(redis.call('GET', value))
    local returned = left and rate and math.min(count, rate - left) or 0
    if returned > 0 then
      redis.call('INCRBY', value, whole(returned))
    end
  end
end
redis.call('SET', answer, 'undone', 'PX', rememberMs)
return reply
