-- One of several permits: a hash holder -> when its permit runs out, in ms on the clock of whoever asks.
-- KEYS[1] the semaphore; ARGV[1] the holder, ARGV[2] the TTL in ms, ARGV[3] how many permits there are, ARGV[4] the time.
-- Answers how long the key lives now, in ms, or 0: all permits are taken.
local now = tonumber(ARGV[4])
local ends = now + tonumber(ARGV[2])
local entries, taken, over, last = redis.call('HGETALL', KEYS[1]), 0, {}, ends
for i = 1, #entries, 2 do
  local other = tonumber(entries[i + 1])
  if entries[i] == ARGV[1] then
    -- My own, taken once more.
  elseif other > now then
    taken = taken + 1
    last = math.max(last, other)
  else
    over[#over + 1] = entries[i]
  end
end
if taken >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ends)
-- Nobody gives back what a dead client has: the next one does.
for _, holder in ipairs(over) do redis.call('HDEL', KEYS[1], holder) end
-- The key lives as long as the longest of its permits.
redis.call('PEXPIRE', KEYS[1], last - now)
return last - now
