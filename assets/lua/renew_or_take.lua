-- Prolong the lease if the lock is mine, or take it again if nobody has it.
local value = redis.call('GET', KEYS[1])
if value == false or value == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0
