#!lua flags=allow-oom
--@include frame restarts
-- A client came back: did the server forget calls that it had answered? Then the pod rests for one delay, since it is
-- unknown which domains were visited meanwhile, and may do no more pages than it has done and in work: what was moved to or
-- from it since is the coordinator's to find out. Notes that the client made first and the server forgot are made again
-- as they were at first: they name files, and say how much of each is acknowledged.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     the last sequence number the client saw
-- ARGV[4]     milliseconds to rest
-- ARGV[5]     number of the server's last beginning when the client last asked
-- ARGV[6..7]  the client's opening and its process, which the server may have forgotten, too
-- ARGV[8..]   notes: name, text, …
-- Keys:       state (hash)  notes (hash)  openers (hash, token -> process)
-- Returns     {the call's id, pod time, sequence number, how many calls were forgotten at least, number of the server's last
--             beginning}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
noticeRestart()
local last, known = tonumber(ARGV[3]), tonumber(ARGV[5])
if hot.began == known and last > hot.seq then
  beginAgain()
end
local forgotten = 0
if hot.began ~= known then
  -- If it was not the last but one, the server began several times since, or forgot the beginning that the client knows:
  -- numbers cannot be compared any more, and something may be missing.
  forgotten = max(hot.beganbefore ~= known and 1 or 0, last - hot.restored)
end
if forgotten > 0 then
  hot.seq = max(hot.seq, last)
  hot.quiet = max(hot.quiet, hot.now + tonumber(ARGV[4]))
  if hot.allowance > 0 then
    hot.allowance = min(hot.allowance, 1 + hot.done + hot.leased + hot.parsing)
  end
  call('HSET', P .. 'openers', ARGV[6], ARGV[7])
  for i = 8, #ARGV, 2 do
    call('HSETNX', P .. 'notes', ARGV[i], ARGV[i + 1])
  end
end
save()
return { callId, hot.now, hot.seq, max(0, forgotten), hot.began }
