-- Leave the line of a fair lock. If the lock is free, whoever is first now is told: the message may have come to me.
-- KEYS[1] the lock, KEYS[2] the line, KEYS[3] until when each entry counts
-- ARGV[1] my token, ARGV[2] what the waiters' channels begin with
-- Answers 1, or 0: I did not stand there.
local stood = redis.call('LREM', KEYS[2], 1, ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
local first = redis.call('LINDEX', KEYS[2], 0)
if first and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('PUBLISH', ARGV[2] .. first, 'your turn') end
return stood
