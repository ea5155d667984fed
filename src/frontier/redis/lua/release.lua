#!lua flags=allow-oom
--@include frame values domains seen requests suspects holders
-- Takes everything from a holder known to be gone, or gives it back untouched when it leaves by itself, or when the
-- server forgot what it did: then its life is over.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     'lost', 'untouched' or 'over'
-- ARGV[4]     the code that a lease known to have ended its holder fails with, or ''
-- ARGV[5]     the leases of which one ended its holder: ids as packed doubles, or ''
-- ARGV[6..]   holders
-- Keys:       those of the parts
-- Returns     {the call's id, pod time, sequence number, how many leases they had}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
expire()
local count, blamed = 0, {}
for at = 1, #ARGV[5], 8 do
  blamed[sub(ARGV[5], at, at + 7)] = true
end
for i = 6, #ARGV do
  if ARGV[3] == 'lost' then
    count = count + lose(ARGV[i], blamed, ARGV[4] ~= '' and ARGV[4] or nil)
    refuseFromNow(ARGV[i])
  else
    for _, lease in ipairs(leasesOf(ARGV[i])) do
      giveBack(lease)
      count = count + 1
    end
    forget(ARGV[i])
    if ARGV[3] == 'over' then
      refuseFromNow(ARGV[i])
    end
  end
end
flush()
save()
return { callId, hot.now, hot.seq, count }
