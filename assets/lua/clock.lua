-- The lesson clock on one server: tell what the keys are, then bring them to lesson time.
-- KEYS[1] the marker; KEYS[2..] the lesson's keys
-- ARGV[1] server time at which the run began (ms); ARGV[2] lesson time (ms); ARGV[3] "1": move the TTLs
-- ARGV[4] so many ms older are the keys at once (a step of this server's clock)
-- Answers { server time (ms), marker, keys lost (below), then for each key { type, expiry (ms, -1 none, -2 no key), content … } }.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local have = tonumber(redis.call('GET', KEYS[1]) or '0')
local answer = {string.format('%.0f', now), string.format('%.0f', have), 0}
for i = 2, #KEYS do
  local key = KEYS[i]
  local kind = redis.call('TYPE', key).ok
  local seen = {kind, redis.call('PEXPIRETIME', key)}
  if kind == 'string' then
    seen[3] = redis.call('GET', key)
  elseif kind == 'hash' then
    for _, part in ipairs(redis.call('HGETALL', key)) do seen[#seen + 1] = part end
  elseif kind == 'list' then
    seen[3] = redis.call('LLEN', key)
    for _, part in ipairs(redis.call('LRANGE', key, 0, 99)) do seen[#seen + 1] = part end
  elseif kind == 'set' then
    seen[3] = redis.call('SCARD', key)
  elseif kind == 'zset' then
    seen[3] = redis.call('ZCARD', key)
  end
  answer[#answer + 1] = seen
end
-- Lesson time minus real time: where the marker says otherwise, exactly the difference is missing.
local want = have
if ARGV[3] == '1' then want = tonumber(ARGV[2]) - (now - tonumber(ARGV[1])) end
local missing = want - have + tonumber(ARGV[4])
if missing ~= 0 then
  for i = 2, #KEYS do
    local expiry = answer[i + 2][2]
    if expiry > 0 then
      local moved = expiry - missing
      local due = moved <= now
      if due then moved = now + 1 end -- Redis itself shall expire it
      redis.call('PEXPIREAT', KEYS[i], string.format('%.0f', moved))
      -- Time goes on in here, and a moment that has passed meanwhile would mean: delete it.
      if not due and redis.call('EXISTS', KEYS[i]) == 0 then answer[3] = answer[3] + 1 end
    end
  end
end
-- Also without keys: the marker must be right before the next write. SETRANGE and a fixed width, because its key event is
-- one that nobody listens to.
if want ~= have then redis.call('SETRANGE', KEYS[1], 0, string.format('%020.0f', want)) end
return answer
