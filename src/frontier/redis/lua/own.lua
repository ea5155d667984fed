#!lua flags=allow-oom
--@include frame
-- Who supervises the pod: one at a time. Renews, gives up or takes the role.
--
-- ARGV[1..2]  see the part frame
-- ARGV[3]     the caller's token
-- ARGV[4]     milliseconds of server time after which a silent supervisor is replaced; 0 gives the role up
-- ARGV[5]     who the caller is, for people and for the next caller
-- ARGV[6]     token of a supervisor that the caller knows to be dead, or ''
-- Keys:       pod:owner (hash: token, identity; expires)
-- Returns     {the call's id, pod time, sequence number, 1 if the role is the caller's, the owner's token, who it is, milliseconds left}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
local key = P .. 'pod:owner'
local owner = call('HMGET', key, 'token', 'identity')
local isFree = not owner[1] or owner[1] == ARGV[3] or owner[1] == ARGV[6]
if isFree and ARGV[4] == '0' then
  call('DEL', key)
elseif isFree then
  call('HSET', key, 'token', ARGV[3], 'identity', ARGV[5])
  call('PEXPIRE', key, ARGV[4])
  owner = { ARGV[3], ARGV[5] }
end
save()
return { callId, hot.now, hot.seq, isFree and 1 or 0, owner[1] or '', owner[2] or '', call('PTTL', key) }
