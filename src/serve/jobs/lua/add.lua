-- Adds to a number and keeps it for some time from now. Returns the sum.
--
-- ARGV[1] key   ARGV[2] by   ARGV[3] seconds
local sum = redis.call('INCRBY', ARGV[1], ARGV[2])
redis.call('EXPIRE', ARGV[1], ARGV[3])
return sum
