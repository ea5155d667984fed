-- Takes or renews a claim for some time. Returns 1 when it is the caller's, 0 when it is another's.
--
-- ARGV[1] key   ARGV[2] who   ARGV[3] milliseconds
local holder = redis.call('GET', ARGV[1])
if holder and holder ~= ARGV[2] then
  return 0
end
redis.call('SET', ARGV[1], ARGV[2], 'PX', ARGV[3])
return 1
