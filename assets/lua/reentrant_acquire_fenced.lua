-- A lock that its owner may take again, with a fencing token: it is drawn the first time, and stays the owner's until the
-- last time is given back. KEYS[1] the lock: owner -> how often it has it; KEYS[2] the counter, which never expires.
-- ARGV[1] the owner, ARGV[2] the lease in ms (without it, for ever). Answers the number, or nil: somebody else holds it.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return false
end
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
if ARGV[2] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
-- As long as I have the lock nobody else draws: the counter still stands at my own number.
local mine = count > 1 and redis.call('GET', KEYS[2])
return tonumber(mine or redis.call('INCR', KEYS[2]))
