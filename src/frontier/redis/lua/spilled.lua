#!lua flags=allow-oom
--@include frame
-- The first requests of `overflow` are safely on disk: they leave Redis, if they are still the ones that were read.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     position of the first of them
-- ARGV[4]     how many
-- ARGV[5]     number of the server's last beginning when they were read
-- Keys:       overflow (list)  state (hash)
-- Returns     {the call's id, pod time, sequence number, 1 if they left}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
local count = tonumber(ARGV[4])
local isNext = hot.spilled == tonumber(ARGV[3]) and hot.began == tonumber(ARGV[5])
if isNext then
  call('LTRIM', P .. 'overflow', count, -1)
  hot.spilled = hot.spilled + count
  hot.overflow = hot.overflow - count
end
save()
return { callId, hot.now, hot.seq, isNext and 1 or 0 }
