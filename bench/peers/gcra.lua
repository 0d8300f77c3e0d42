-- The limiter that Redis is measured with: the generic cell rate algorithm, as short as it can be
-- written and still say what CL.THROTTLE says.
--   EVALSHA digest 1 key max_burst count period
local burst, count, period = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local emission = period / count
local full_at = tonumber(redis.call('GET', KEYS[1])) or now
if full_at < now then full_at = now end
local after = full_at + emission
local room = now + emission * (burst + 1) - after
if room < 0 then
  return {1, burst + 1, 0, math.ceil(-room), math.ceil(full_at - now)}
end
redis.call('SET', KEYS[1], string.format('%.6f', after), 'PX', math.ceil((after - now) * 1000))
return {0, burst + 1, math.floor(room / emission), -1, math.ceil(after - now)}
