#!lua flags=allow-oom
--@include frame
-- How many pages this pod may still do. The coordinator gives and takes; what is in work is never taken.
-- A coordinator that was replaced is refused, so that no page is allowed twice.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     number of the coordinator, growing
-- ARGV[4]     'give', 'take', or 'lift' to end the limit
-- ARGV[5]     how many pages
-- Keys:       state (hash)
-- Returns     {pod time, sequence number, 1 unless another coordinates, pages given or taken, allowance or -1,
--             pages done, requests in work}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
local epoch, act, pages = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
if epoch < hot.epoch then
  save()
  return { hot.now, hot.seq, 0, 0, hot.allowance - 1, hot.done, hot.leased + hot.parsing }
end
hot.epoch = epoch
if act == 'lift' then
  hot.allowance = 0
elseif act == 'give' then
  hot.allowance = max(1, hot.allowance) + pages
else
  pages = max(0, min(pages, hot.allowance - 1 - hot.done - hot.leased - hot.parsing))
  hot.allowance = max(1, hot.allowance) - pages
end
save()
return { hot.now, hot.seq, 1, pages, hot.allowance - 1, hot.done, hot.leased + hot.parsing }
