-- Renew my entry in the line of a fair lock: I am alive, and only sleep.
-- KEYS[1] the line, KEYS[2] until when each entry counts; ARGV[1] my token, ARGV[2] until when mine shall count
-- Answers 1, or 0: I have been struck off.
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[2], 'XX', ARGV[2], ARGV[1])
return 1
