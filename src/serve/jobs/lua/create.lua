-- Keeps a new job, or finds the one that was made with the same idempotency key.
--
-- ARGV[1] prefix   ARGV[2] id   ARGV[3] idempotency key or ''   ARGV[4] creation time
-- ARGV[5] first event or ''   ARGV[6] number of fields   then fields and values, then the URLs of its list
-- Keys: P jobs (zset, id by creation time), job:ID (hash), urls:ID, events:ID (lists), once:KEY (string, id)
-- Returns the id of the job that is there now.
local prefix, id, key = ARGV[1], ARGV[2], ARGV[3]
if key ~= '' then
  local earlier = redis.call('GET', prefix .. 'once:' .. key)
  if earlier and redis.call('EXISTS', prefix .. 'job:' .. earlier) == 1 then
    return earlier
  end
  redis.call('SET', prefix .. 'once:' .. key, id, 'EX', 604800)
end
local last = 6 + tonumber(ARGV[6]) * 2
for i = 7, last, 2 do
  redis.call('HSET', prefix .. 'job:' .. id, ARGV[i], ARGV[i + 1])
end
for i = last + 1, #ARGV do
  redis.call('RPUSH', prefix .. 'urls:' .. id, ARGV[i])
end
if ARGV[5] ~= '' then
  redis.call('RPUSH', prefix .. 'events:' .. id, ARGV[5])
end
redis.call('ZADD', prefix .. 'jobs', ARGV[4], id)
return id
