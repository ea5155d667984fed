#!lua flags=allow-oom
--@include frame
-- How many pages this pod may still do. The coordinator gives and takes; what is in work is never taken.
-- A coordinator that was replaced is refused, so that no page is allowed twice; neither is a call that is repeated.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     number of the coordinator, growing
-- ARGV[4]     'limit': from now on there is one, at least what is done and in work; 'lift': there is none;
--             'give' or 'take' pages
-- ARGV[5]     how many pages
-- ARGV[6]     the allowance that the caller knows; another means that this call was made before
-- Keys:       state (hash)
-- Returns     {the call's id, pod time, sequence number, 1 unless another coordinates, pages given or taken, allowance or -1}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
local epoch, act, pages, known = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
if epoch < hot.epoch then
  save()
  return { callId, hot.now, hot.seq, 0, 0, hot.allowance - 1 }
end
hot.epoch = epoch
local used, before = hot.done + hot.leased + hot.parsing, hot.allowance - 1
if act == 'lift' then
  hot.allowance = 0
elseif act == 'limit' then
  hot.allowance = max(1 + used, hot.allowance)
elseif before == known then
  if act == 'give' then
    hot.allowance = hot.allowance + pages
  else
    hot.allowance = hot.allowance - max(0, min(pages, before - used))
  end
end
save()
return { callId, hot.now, hot.seq, 1, math.abs(hot.allowance - 1 - known), hot.allowance - 1 }
