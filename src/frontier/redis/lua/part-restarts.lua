-- Part: whether another server answers than before, or the same one started again: it may have forgotten its last calls,
-- and whoever heard of a later one can tell. Until they are back nothing is leased.
-- Promise: the first to come notes where the server began again, so what others know can be compared with it.
--
-- Keys: state (hash): run, the server's own id of its present run
--       gaps (list; first position on disk that does not count, first that does again)
local RETURN_MS, LEASES_FORGOTTEN, POSITIONS_PER_RUN, POSITIONS_PER_MS = 2000, 1000000, 4294967296, 4096

-- The server may have forgotten which positions on disk it gave: rows that were written there meanwhile must never be
-- taken for later ones. They go by the server's clock, and by nothing else while that goes forward: whatever is counted
-- from the last position, a server that forgot its last beginning, too, would count to the same one again. Fewer rows
-- than that are written in a millisecond; exact until the year 2039.
local function skipPositions()
  local from, time = hot.spilled, call('TIME')
  local byClock = (tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)) * POSITIONS_PER_MS
  -- Of a clock that was set back, only what it counts in a run's positions.
  hot.spilled = byClock >= from and byClock or from + POSITIONS_PER_RUN + byClock % POSITIONS_PER_RUN
  if hot.far > 0 and hot.spilled > from then
    call('RPUSH', P .. 'gaps', pack('<dd', from, hot.spilled))
  end
end

-- From here on the server's numbers may have been told before with another meaning. Lease ids go on above any given.
-- Each beginning has a number of its own, by the server's clock: a server that forgot its last beginnings would count to
-- the same ones again.
local function beginAgain()
  local time = call('TIME')
  local byClock = tonumber(time[1]) * 1000000 + tonumber(time[2])
  hot.beganbefore, hot.restored = hot.began, hot.seq
  -- Fewer leases than microseconds are given. Only after a clock that was set back is anything counted from the last
  -- numbers, with the clock's microseconds in it: a server that forgot again would else count to the same ones.
  local jump = 1 + LEASES_FORGOTTEN + byClock % LEASES_FORGOTTEN
  hot.began = byClock > hot.began and byClock or hot.began + jump
  hot.lease = hot.began > hot.lease and hot.began or hot.lease + jump
  hot.quiet = max(hot.quiet, hot.now + RETURN_MS)
  skipPositions()
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
