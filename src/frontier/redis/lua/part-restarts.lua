-- Part: whether another server answers than before, or the same one started again: it may have forgotten its last calls,
-- and whoever heard of a later one can tell. Until they are back nothing is leased.
-- Promise: the first to come notes where the server began again, so what others know can be compared with it.
--
-- Keys: state (hash): run, the server's own id of its present run
local RETURN_MS, LEASES_FORGOTTEN = 2000, 1000000

-- From here on the server's numbers may have been told before with another meaning. Lease ids go on above any given.
local function beginAgain()
  hot.restores, hot.restored = hot.restores + 1, hot.seq
  hot.lease = hot.lease + LEASES_FORGOTTEN
  hot.quiet = max(hot.quiet, hot.now + RETURN_MS)
end

local function noticeRestart()
  local info = redis.pcall('INFO', 'server')
  -- Some hosted servers refuse INFO: then the first who knows of a later call finds out.
  local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
  local known = call('HGET', P .. 'state', 'run')
  if known == run then
    return
  end
  call('HSET', P .. 'state', 'run', run)
  if known then
    beginAgain()
  end
end
