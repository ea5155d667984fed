#!lua flags=allow-oom
--@include frame values domains
-- The next requests of a domain come back from disk to the end of its head, if it was read up to where they begin.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     the domain's key
-- ARGV[4..5]  the position it was read up to, and the one after the last that comes back now
-- ARGV[6]     number of the server's last beginning when the position was read
-- ARGV[7..]   the requests' values, in order
-- Keys:       those of the parts; spill (hash)  refill (set)  long (set)  gaps (list)
-- Returns     {the call's id, pod time, sequence number, 1 if they came back}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
local d, count = domainOf(ARGV[3]), #ARGV - 6
local isNext = (call('HGET', P .. 'spill', ARGV[3]) or '0') == ARGV[4] and hot.began == tonumber(ARGV[6])
if isNext then
  if count > d.far then
    error('CORRUPT: ' .. count .. ' requests came back from disk for a domain that has ' .. d.far .. ' there')
  end
  exact(d)
  for i = 7, #ARGV, 500 do
    call('RPUSH', P .. 'q:' .. d.key, unpack(ARGV, i, min(i + 499, #ARGV)))
  end
  if near(d) == 0 then
    d.ready = hot.now
  end
  d.far, hot.far = d.far - count, hot.far - count
  mark(d)
  if d.far == 0 then
    -- When it spills again, pushTail() sets where its next row begins: what lies before is never read again.
    call('HDEL', P .. 'spill', ARGV[3])
    call('SREM', P .. 'long', ARGV[3])
  else
    call('HSET', P .. 'spill', ARGV[3], ARGV[5])
  end
  if d.far == 0 or lineLength(d) > domainHead / 2 then
    call('SREM', P .. 'refill', ARGV[3])
  end
  if hot.far == 0 then
    call('DEL', P .. 'gaps')
  end
  flush()
end
save()
return { callId, hot.now, hot.seq, isNext and 1 or 0 }
