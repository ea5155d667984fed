#!lua flags=allow-oom
--@include frame values domains seen requests suspects holders
-- Numbers of a pod, for its supervisor: what is pending, what it may still do, what waits to go elsewhere.
--
-- ARGV[1..2]  see the part frame
-- Keys:       those of the parts
-- Returns     {the call's id, pod time, sequence number, {accepted, queued, retrying, leased, done, failed, skipped, parsing, bytes that
--             wait to be parsed, links in the outbox, allowance or -1, requests on disk, domains that are due,
--             domains that wait for their time, links dropped by the budget of their domain, requests that ended
--             because they ended their worker}}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
saveLook(expire())
local due, all = call('ZCOUNT', P .. 'due', '-inf', hot.now), call('ZCARD', P .. 'due')
if hot.suspects > 0 then
  due, all = due + call('ZCOUNT', P .. 'accused', '-inf', hot.now), all + call('ZCARD', P .. 'accused')
end
return { callId, hot.now, hot.seq, { hot.accepted, hot.queued, hot.retrying, hot.leased, hot.done, hot.failed, hot.skipped,
  hot.parsing, hot.parsebytes, hot.outbox, hot.allowance - 1, hot.far, due, all - due,
  hot.dropped, hot.lostworkers } }
