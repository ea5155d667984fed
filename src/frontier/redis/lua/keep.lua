#!lua flags=allow-oom
--@include frame values domains
-- Makes the caller the keeper unless another lives, and tells it what there is to move.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     the caller's token
-- ARGV[4]     milliseconds after which a silent keeper is replaced
-- ARGV[5]     at most so many requests to spill, and domains to refill
-- Keys:       keeper (hash: token, until)  overflow (list)  refill (set)  spill (hash, domain -> position read up to)
--             gaps (list, see the part restarts)
-- Returns     {the call's id, pod time, sequence number, 1 if the caller is the keeper, number of the server's last beginning, position of
--             the first request to spill, requests to spill, domains to refill, where each was read up to, how many
--             requests of each are far, gaps, requests in overflow, requests on disk or on their way there}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
local keeper = call('HMGET', P .. 'keeper', 'token', 'until')
if keeper[1] and keeper[1] ~= ARGV[3] and tonumber(keeper[2]) >= hot.now then
  saveLook(false)
  return { callId, hot.now, hot.seq, 0 }
end
-- Renewed when half of it is over.
local isDue = keeper[1] ~= ARGV[3] or tonumber(keeper[2]) - hot.now < tonumber(ARGV[4]) / 2
if isDue then
  call('HSET', P .. 'keeper', 'token', ARGV[3], 'until', hot.now + tonumber(ARGV[4]))
end
saveLook(isDue)
local wanted = call('SRANDMEMBER', P .. 'refill', ARGV[5])
local positions, fars = {}, {}
for i, key in ipairs(wanted) do
  positions[i] = call('HGET', P .. 'spill', key) or '0'
  fars[i] = domainOf(key).far
end
local gaps = hot.far > 0 and call('LRANGE', P .. 'gaps', 0, -1) or {}
return { callId, hot.now, hot.seq, 1, hot.began, hot.spilled, call('LRANGE', P .. 'overflow', 0, tonumber(ARGV[5]) - 1),
  wanted, positions, fars, gaps, hot.overflow, hot.far }
