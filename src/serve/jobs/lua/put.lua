-- Keeps outcomes of a job that runs, each key once, with their events.
--
-- ARGV[1] prefix   ARGV[2] id   ARGV[3..] in fours: d(ocument), e(rror) or r(obots); key; value; row
-- Keys: P job:ID (hash), keys:ID (set), docs:ID, troubles:ID, events:ID, rows:ID (lists)
-- Returns how many were new.
local prefix, id = ARGV[1], ARGV[2]
local job = prefix .. 'job:' .. id
if redis.call('HGET', job, 'status') ~= 'scraping' then
  return 0
end
local limit = tonumber(redis.call('HGET', job, 'limit') or '')
local wantsPage = redis.call('HGET', job, 'wantsPage') == '1'
local new = 0
for i = 3, #ARGV, 4 do
  local kind, key, value, row = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local full = limit and kind ~= 'r'
    and tonumber(redis.call('HGET', job, 'completed')) + tonumber(redis.call('HGET', job, 'failed')) >= limit
  if not full and redis.call('SADD', prefix .. 'keys:' .. id, key) == 1 then
    new = new + 1
    local result = kind == 'd' and redis.call('LLEN', prefix .. 'docs:' .. id) or '-'
    redis.call('RPUSH', prefix .. 'rows:' .. id, result .. ' ' .. row)
    redis.call('HINCRBY', job, 'rows', 1)
    if kind == 'd' then
      local length = redis.call('RPUSH', prefix .. 'docs:' .. id, value)
      redis.call('HINCRBY', job, 'completed', 1)
      redis.call('HINCRBY', job, 'bytes', #value)
      if wantsPage then
        redis.call('RPUSH', prefix .. 'events:' .. id, '{"type":"page","result":' .. (length - 1) .. '}')
        redis.call('HINCRBY', job, 'events', 1)
      end
    else
      if redis.call('LLEN', prefix .. 'troubles:' .. id) < 10000 then
        redis.call('RPUSH', prefix .. 'troubles:' .. id, value)
      end
      redis.call('HINCRBY', job, 'bytes', 200)
      if kind == 'e' then
        redis.call('HINCRBY', job, 'failed', 1)
      end
    end
  end
end
return new
