-- Adds URLs to the list of a job that runs. Returns 1, or 0 when it has ended.
--
-- ARGV[1] prefix   ARGV[2] id   ARGV[3..] URLs
-- Keys: P job:ID (hash), urls:ID (list)
local job = ARGV[1] .. 'job:' .. ARGV[2]
if redis.call('HGET', job, 'status') ~= 'scraping' then
  return 0
end
for i = 3, #ARGV do
  redis.call('RPUSH', ARGV[1] .. 'urls:' .. ARGV[2], ARGV[i])
end
redis.call('HINCRBY', job, 'urls', #ARGV - 2)
redis.call('HINCRBY', job, 'total', #ARGV - 2)
return 1
