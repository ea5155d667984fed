#!lua flags=allow-oom
--@include frame
-- The first requests of `overflow` are safely on disk: they leave Redis, if the position is still the one they had.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     position of the first of them
-- ARGV[4]     how many
-- Keys:       overflow (list)  state (hash)
-- Returns     {pod time, sequence number, 1 if they left}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
local isNext, count = hot.spilled == tonumber(ARGV[3]), tonumber(ARGV[4])
if isNext then
  call('LTRIM', P .. 'overflow', count, -1)
  hot.spilled = hot.spilled + count
  hot.overflow = hot.overflow - count
end
save()
return { hot.now, hot.seq, isNext and 1 or 0 }
