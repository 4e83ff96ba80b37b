-- A fair semaphore: take one of several permits if nobody stands before me, else stand in line.
-- KEYS[1] the semaphore (holder -> when its permit runs out, in ms on the clock of whoever asks), KEYS[2] the line (a list
-- of tokens, the first comer first), KEYS[3] until when each of them counts
-- ARGV[1] the holder, ARGV[2] the TTL in ms, ARGV[3] the time by my own clock, ARGV[4] how long an entry counts, in ms,
-- ARGV[5] 1: asking again renews my entry, ARGV[6] what the waiters' channels begin with, ARGV[7] how many permits there are
-- Answers OK and how long the key lives now, in ms: I have a permit; or my place in the line.
local now, ends = tonumber(ARGV[3]), ARGV[3] + ARGV[4]
if ARGV[5] == '1' then redis.call('ZADD', KEYS[3], 'XX', ends, ARGV[1]) end
-- The dead do not leave by themselves: whoever comes next strikes off those whose time is over.
for _, over in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do
  redis.call('LREM', KEYS[2], 1, over)
  redis.call('ZREM', KEYS[3], over)
end
local mine = now + ARGV[2]
local entries, taken, again, over, last = redis.call('HGETALL', KEYS[1]), 0, false, {}, mine
for i = 1, #entries, 2 do
  local other = tonumber(entries[i + 1])
  if entries[i] == ARGV[1] then
    again = other > now
  elseif other > now then
    taken = taken + 1
    last = math.max(last, other)
  else
    over[#over + 1] = entries[i]
  end
end
local first = redis.call('LINDEX', KEYS[2], 0)
local free = taken < tonumber(ARGV[7])
-- Who is inside already does not stand in line.
if again or (free and (not first or first == ARGV[1])) then
  redis.call('HSET', KEYS[1], ARGV[1], mine)
  -- Nobody gives back what a dead client has: the next one does.
  for _, holder in ipairs(over) do redis.call('HDEL', KEYS[1], holder) end
  -- The key lives as long as the longest of its permits.
  redis.call('PEXPIRE', KEYS[1], last - now)
  redis.call('LREM', KEYS[2], 1, ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  -- A message wakes one: if there is a permit left, I pass it on.
  local following = redis.call('LINDEX', KEYS[2], 0)
  if following and taken + 1 < tonumber(ARGV[7]) then redis.call('PUBLISH', ARGV[6] .. following, 'your turn') end
  return {redis.status_reply('OK'), last - now}
end
local place = redis.call('LPOS', KEYS[2], ARGV[1])
if not place then
  place = redis.call('RPUSH', KEYS[2], ARGV[1]) - 1
  redis.call('ZADD', KEYS[3], ends, ARGV[1])
end
-- A permit is free, and it is not my turn: the one whose turn it is may sleep.
if free then redis.call('PUBLISH', ARGV[6] .. first, 'your turn') end
return place + 1
