#!lua flags=allow-oom
--@include frame restarts
-- Makes the store if it is none yet and registers the process that opens it.
--
-- ARGV[1..2]  see the part frame; the store's id is the one a new store gets
-- ARGV[3]     1 if a missing store may be made
-- ARGV[4]     schema version of a new store
-- ARGV[5..6]  this opening's token, and the identity of its process; '' only to look whose store it is
-- ARGV[7..]   what pod:info says in a new store: field, text, …
-- Keys:       schema_version (string)  pod:info (hash)  state (hash)  openers (hash, token -> process)
-- Returns     {the call's id, pod time, sequence number, store's id or '' when there is none, schema version, pod:info,
--             number of the server's last beginning (recover.lua)}
local schema = call('GET', P .. 'schema_version')
if not schema then
  if ARGV[3] ~= '1' or stored[1] then
    return { callId, 0, 0, '', '', {} }
  end
  call('SET', P .. 'schema_version', ARGV[4])
  call('HSET', P .. 'pod:info', unpack(ARGV, 7))
  call('HSET', P .. 'state', 'store', storeId)
  stored[1] = storeId
  schema = ARGV[4]
elseif ARGV[5] == '' or schema ~= ARGV[4] or not stored[1] or stored[1] == 'DROPPING' then
  return { callId, 0, 0, stored[1] or '', schema, call('HGETALL', P .. 'pod:info') }
end
load()
if hot.now == 0 then
  hot.now = hot.wall
end
noticeRestart()
call('HSET', P .. 'openers', ARGV[5], ARGV[6])
save()
return { callId, hot.now, hot.seq, stored[1], schema, call('HGETALL', P .. 'pod:info'), hot.began }
