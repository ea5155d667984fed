-- Ends a job that runs, with its last event. Returns 1 when it did, 0 when the job had ended or is not there.
--
-- ARGV[1] prefix   ARGV[2] id   ARGV[3] status   ARGV[4] time   ARGV[5] reason or ''   ARGV[6] event or ''
-- Keys: P job:ID (hash), events:ID (list)
local job = ARGV[1] .. 'job:' .. ARGV[2]
if redis.call('HGET', job, 'status') ~= 'scraping' then
  return 0
end
local done = redis.call('HGET', job, 'completed') + redis.call('HGET', job, 'failed')
redis.call('HSET', job, 'status', ARGV[3], 'endedAtMs', ARGV[4], 'total', done)
if ARGV[5] ~= '' then
  redis.call('HSET', job, 'reason', ARGV[5])
else
  redis.call('HDEL', job, 'reason')
end
if ARGV[6] ~= '' then
  redis.call('RPUSH', ARGV[1] .. 'events:' .. ARGV[2], ARGV[6])
  redis.call('HINCRBY', job, 'events', 1)
end
return 1
