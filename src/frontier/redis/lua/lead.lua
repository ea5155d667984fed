#!lua flags=allow-oom
--@include frame
-- Who coordinates all machines of a crawl: one at a time. Takes, renews or gives up the lead, and may end the crawl.
-- Every new leader gets a number above all earlier ones; with it, pods refuse those before it (allowance.lua).
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     the caller's token
-- ARGV[4]     milliseconds after which a silent leader is replaced; 0 gives the lead up
-- ARGV[5]     who the caller is, for people
-- ARGV[6]     '1' to take the lead if it is free
-- ARGV[7]     stop signal to set, if the lead is the caller's; or ''
-- ARGV[8]     the number of a new leader is at least this
-- Keys:       global:lead (hash: token, identity; expires), global:coordinator, global:stop_signal (strings)
-- Returns     {the call's id, pod time, sequence number, 1 if the caller leads, number of the leader, stop signal, who leads}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
local key, counter, stop = P .. 'global:lead', P .. 'global:coordinator', P .. 'global:stop_signal'
local token, ttl, who, mayTake, signal, least = ARGV[3], ARGV[4], ARGV[5], ARGV[6] == '1', ARGV[7], tonumber(ARGV[8])
local leader = call('HMGET', key, 'token', 'identity')
local number = tonumber(call('GET', counter) or '0') or 0
local isOurs = leader[1] == token
if isOurs and signal ~= '' then
  call('SET', stop, signal)
end
if ttl == '0' then
  if isOurs then
    call('DEL', key)
  end
  isOurs, leader = false, {}
elseif not leader[1] and mayTake then
  number = max(number + 1, least)
  call('SET', counter, string.format('%.0f', number))
  isOurs = true
end
if isOurs then
  call('HSET', key, 'token', token, 'identity', who)
  call('PEXPIRE', key, ttl)
  leader = { token, who }
end
save()
return { callId, hot.now, hot.seq, isOurs and 1 or 0, number, call('GET', stop) or '', leader[2] or '' }
