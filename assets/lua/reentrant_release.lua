-- Give back one of the times that the owner has the lock; the last one frees it.
-- KEYS[1] the lock; ARGV[1] the owner, ARGV[2] the TTL in ms (0: none), ARGV[3] (if there is one) the channel to tell.
-- Answers how often the owner still has it, or nil: it is not the owner.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return nil
end
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if count > 0 then
  if tonumber(ARGV[2]) > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return count
end
redis.call('DEL', KEYS[1])
if ARGV[3] then redis.call('PUBLISH', ARGV[3], 'released') end
return 0
