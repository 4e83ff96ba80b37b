-- A lock that its owner may take again: a hash owner -> how often it has it.
-- KEYS[1] the lock; ARGV[1] the owner, ARGV[2] the TTL in ms (0: none). Answers the count, or 0: somebody else has it.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
if tonumber(ARGV[2]) > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return count
