-- A fair lock that its owner may take again: a hash owner -> how often it has it, and a line before it.
-- KEYS[1] the lock, KEYS[2] the line (a list of tokens, the first comer first), KEYS[3] until when each of them counts
-- ARGV[1] the owner, ARGV[2] the lease in ms (0: for ever), ARGV[3] the time by my own clock, ARGV[4] how long an entry
-- counts, in ms, ARGV[5] 1: asking again renews my entry, ARGV[6] what the waiters' channels begin with
-- KEYS[4] (if there is one) the counter of fencing tokens, which never expires
-- Answers OK: the lock is mine (with a counter: OK and my number); or my place in the line.
local now, ends = tonumber(ARGV[3]), ARGV[3] + ARGV[4]
if ARGV[5] == '1' then redis.call('ZADD', KEYS[3], 'XX', ends, ARGV[1]) end
-- The dead do not leave by themselves: whoever comes next strikes off those whose time is over.
for _, over in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do
  redis.call('LREM', KEYS[2], 1, over)
  redis.call('ZREM', KEYS[3], over)
end
local first = redis.call('LINDEX', KEYS[2], 0)
local free = redis.call('EXISTS', KEYS[1]) == 0
-- Who is inside already does not stand in line.
local again = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1
if again or (free and (not first or first == ARGV[1])) then
  local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  if ARGV[2] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  redis.call('LREM', KEYS[2], 1, ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  if KEYS[4] then
    -- As long as I have the lock nobody else draws: the counter still stands at my own number.
    local mine = count > 1 and redis.call('GET', KEYS[4])
    return {redis.status_reply('OK'), tonumber(mine or redis.call('INCR', KEYS[4]))}
  end
  return redis.status_reply('OK')
end
local place = redis.call('LPOS', KEYS[2], ARGV[1])
if not place then
  place = redis.call('RPUSH', KEYS[2], ARGV[1]) - 1
  redis.call('ZADD', KEYS[3], ends, ARGV[1])
end
-- It is free, and not my turn: the one whose turn it is may sleep.
if free then redis.call('PUBLISH', ARGV[6] .. first, 'your turn') end
return place + 1
