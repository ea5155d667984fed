-- Keeps a monitor if nobody changed it since it was read. Returns 1 when it did, 0 when somebody had.
--
-- ARGV[1] prefix   ARGV[2] id   ARGV[3] the row as it was read, '' for none   ARGV[4] the new row
-- Keys: P monitors (hash, row by id; DELETE /v2/monitor/ID removes it)
local key = ARGV[1] .. 'monitors'
if (redis.call('HGET', key, ARGV[2]) or '') ~= ARGV[3] then
  return 0
end
redis.call('HSET', key, ARGV[2], ARGV[4])
return 1
