-- Delete the lock only if it is still mine, and tell whoever waits for it.
-- KEYS[1] the lock; ARGV[1] the token, ARGV[2] the channel.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', ARGV[2], 'released')
  return 1
end
return 0
