-- Leave the line of a fair semaphore. If a permit is free, whoever is first now is told: the message may have come to me.
-- KEYS[1] the semaphore, KEYS[2] the line, KEYS[3] until when each entry counts
-- ARGV[1] my token, ARGV[2] what the waiters' channels begin with, ARGV[3] the time by my own clock, ARGV[4] how many
-- permits there are
-- Answers 1, or 0: I did not stand there.
local stood = redis.call('LREM', KEYS[2], 1, ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
local first = redis.call('LINDEX', KEYS[2], 0)
local taken = 0
for _, ends in ipairs(redis.call('HVALS', KEYS[1])) do
  if tonumber(ends) > tonumber(ARGV[3]) then taken = taken + 1 end
end
if first and taken < tonumber(ARGV[4]) then redis.call('PUBLISH', ARGV[2] .. first, 'your turn') end
return stood
