-- Give back one of the times that the owner has the lock; the last one frees it, and tells whoever is first in line.
-- KEYS[1] the lock, KEYS[2] the line, KEYS[3] until when each entry counts
-- ARGV[1] the owner, ARGV[2] the lease in ms (0: none), ARGV[3] the time by my own clock, ARGV[4] what the waiters'
-- channels begin with, ARGV[5] (if there is one) the channel of those who wait without a line
-- Answers how often the owner still has it, or nil: it is not the owner.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return nil end
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if count > 0 then
  if ARGV[2] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return count
end
redis.call('DEL', KEYS[1])
-- To tell the dead would be to tell nobody.
for _, over in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ARGV[3])) do
  redis.call('LREM', KEYS[2], 1, over)
  redis.call('ZREM', KEYS[3], over)
end
local first = redis.call('LINDEX', KEYS[2], 0)
if first then redis.call('PUBLISH', ARGV[4] .. first, 'your turn') end
if ARGV[5] then redis.call('PUBLISH', ARGV[5], 'released') end
return 0
