-- Tell whoever is first in the line of a fair lock that the lock is free.
-- KEYS[1] the line, KEYS[2] until when each entry counts; ARGV[1] the time by my own clock, ARGV[2] what the waiters'
-- channels begin with
-- Answers how many have heard it.
for _, over in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1])) do
  redis.call('LREM', KEYS[1], 1, over)
  redis.call('ZREM', KEYS[2], over)
end
local first = redis.call('LINDEX', KEYS[1], 0)
if not first then return 0 end
return redis.call('PUBLISH', ARGV[2] .. first, 'your turn')
