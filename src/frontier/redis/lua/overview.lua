#!lua flags=allow-oom
--@include frame values domains seen requests suspects holders
-- Where everything stands: counters that add up, and the notes, at one instant. What the parse queue holds is leased.
--
-- ARGV[1..2]  see the part frame
-- Keys:       those of the parts; notes (hash)
-- Returns     {the call's id, pod time, sequence number, the counters accepted to skipped, notes as name, text, …}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
saveLook(expire())
return { callId, hot.now, hot.seq, { hot.accepted, hot.queued, hot.retrying, hot.leased + hot.parsing, hot.done, hot.failed, hot.skipped },
  call('HGETALL', P .. 'notes') }
