#!lua flags=allow-oom
--@include frame
-- A client came back: did the server forget calls that it had answered? Then the pod rests for one delay, since nobody
-- knows which domains were asked meanwhile, and lease ids go on above any that was given.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     the last sequence number the client saw
-- ARGV[4]     milliseconds to rest
-- Keys:       state (hash)
-- Returns     {pod time, sequence number, how many calls were forgotten at least}
local LEASES_A_CALL = 1000
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
local forgotten = max(0, tonumber(ARGV[3]) - hot.seq)
if forgotten > 0 then
  hot.seq = hot.seq + forgotten
  hot.lease = hot.lease + forgotten * LEASES_A_CALL
  hot.quiet = max(hot.quiet, hot.now + tonumber(ARGV[4]))
end
save()
return { hot.now, hot.seq, forgotten }
