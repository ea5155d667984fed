#!lua flags=allow-oom
--@include frame server
-- A client came back: did the server forget calls that it had answered? Then the pod rests for one delay, since nobody
-- knows which domains were asked meanwhile, and lease ids go on above any that was given.
-- The first client that knows of a later call finds out; the others compare with where the server began again.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     the last sequence number the client saw
-- ARGV[4]     milliseconds to rest
-- ARGV[5]     how often the server had begun again when the client last asked
-- Keys:       state (hash)
-- Returns     {pod time, sequence number, how many calls were forgotten at least, how often the server began again}
local LEASES_A_CALL = 1000
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
meetServer()
local last, known = tonumber(ARGV[3]), tonumber(ARGV[5])
if hot.restores == known and last > hot.seq then
  hot.restores, hot.restored = known + 1, hot.seq
  skipPositions()
end
local forgotten = 0
if hot.restores > known then
  -- After several the numbers of the first cannot be compared any more: something may be missing.
  forgotten = max(hot.restores > known + 1 and 1 or 0, last - hot.restored)
end
if forgotten > 0 then
  hot.seq = max(hot.seq, last)
  hot.lease = hot.lease + forgotten * LEASES_A_CALL
  hot.quiet = max(hot.quiet, hot.now + tonumber(ARGV[4]))
end
save()
return { hot.now, hot.seq, max(0, forgotten), hot.restores }
