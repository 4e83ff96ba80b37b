-- Take the lock and draw a fencing token in one step: nobody can come between the two, so a later holder always has a
-- greater number. KEYS[1] the lock, KEYS[2] the counter, which never expires; ARGV[1] my token, ARGV[2] the lease in ms
-- (without it, for ever). Answers the number, or nil: somebody else holds the lock.
local taken
if ARGV[2] then
  taken = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
else
  taken = redis.call('SET', KEYS[1], ARGV[1], 'NX')
end
if not taken then
  return false
end
return redis.call('INCR', KEYS[2])
