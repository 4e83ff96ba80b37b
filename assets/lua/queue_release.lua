-- Delete the lock only if it is still mine, and tell whoever is first in line.
-- KEYS[1] the lock, KEYS[2] the line, KEYS[3] until when each entry counts
-- ARGV[1] my token, ARGV[2] the time by my own clock, ARGV[3] what the waiters' channels begin with
-- ARGV[4] (if there is one) the channel of those who wait without a line
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
-- To tell the dead would be to tell nobody.
for _, over in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ARGV[2])) do
  redis.call('LREM', KEYS[2], 1, over)
  redis.call('ZREM', KEYS[3], over)
end
local first = redis.call('LINDEX', KEYS[2], 0)
if first then redis.call('PUBLISH', ARGV[3] .. first, 'your turn') end
if ARGV[4] then redis.call('PUBLISH', ARGV[4], 'released') end
return 1
