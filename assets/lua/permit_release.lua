-- Give back one permit, if the holder still has it.
-- KEYS[1] the semaphore; ARGV[1] the holder, ARGV[2] (if there is one) the channel to tell.
local had = redis.call('HDEL', KEYS[1], ARGV[1])
if had == 1 and ARGV[2] then redis.call('PUBLISH', ARGV[2], 'released') end
return had
