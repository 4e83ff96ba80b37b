-- Give back one permit, if the holder still has it, and tell whoever is first in line.
-- KEYS[1] the semaphore, KEYS[2] the line, KEYS[3] until when each entry counts
-- ARGV[1] the holder, ARGV[2] the time by my own clock, ARGV[3] what the waiters' channels begin with
-- ARGV[4] (if there is one) the channel of those who wait without a line
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
-- To tell the dead would be to tell nobody.
for _, over in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ARGV[2])) do
  redis.call('LREM', KEYS[2], 1, over)
  redis.call('ZREM', KEYS[3], over)
end
local first = redis.call('LINDEX', KEYS[2], 0)
if first then redis.call('PUBLISH', ARGV[3] .. first, 'your turn') end
if ARGV[4] then redis.call('PUBLISH', ARGV[4], 'released') end
return 1
