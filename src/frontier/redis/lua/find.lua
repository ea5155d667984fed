#!lua flags=allow-oom
--@include frame values domains seen requests suspects holders
-- What became of requests. A store that keeps fingerprints only tells whether they were accepted.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3..]   fingerprints, 8 bytes each, big-endian
-- Keys:       those of the parts
-- Returns     {the call's id, pod time, sequence number, an answer per fingerprint: its row of r, or '' when only known, or false;
--             fingerprints that are leased now}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
saveLook(expire())
local found, leased = {}, {}
for i = 3, #ARGV do
  if memory == 'r' then
    found[#found + 1] = call('HGET', P .. 'r', ARGV[i])
  else
    found[#found + 1] = isKnown(unpackNumbers('>I4I4', ARGV[i])) and ''
  end
end
if memory == 'r' then
  for _, one in ipairs(call('ZRANGE', P .. 'holders', 0, -1)) do
    for _, row in ipairs(call('HVALS', P .. 'l:' .. one)) do
      local _, fingerprint = unpackValue(unpackLease(row).value)
      leased[#leased + 1] = fingerprint
    end
  end
end
return { callId, hot.now, hot.seq, found, leased }
