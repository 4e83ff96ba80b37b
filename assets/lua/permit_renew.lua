-- Prolong a permit only if it has not run out, by the same clock.
-- KEYS[1] the semaphore; ARGV[1] the holder, ARGV[2] the TTL in ms, ARGV[3] the time.
-- Answers how long the key lives now, in ms, or 0: the permit is lost.
local now = tonumber(ARGV[3])
local mine = redis.call('HGET', KEYS[1], ARGV[1])
if not mine or tonumber(mine) <= now then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], now + tonumber(ARGV[2]))
local last = now
for _, ends in ipairs(redis.call('HVALS', KEYS[1])) do last = math.max(last, tonumber(ends)) end
redis.call('PEXPIRE', KEYS[1], last - now)
return last - now
