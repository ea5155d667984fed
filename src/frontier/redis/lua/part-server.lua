-- Part: notices that the server began again, before anything else is asked of it. Every client opens or recovers first,
-- so the first of them finds the numbers as the server restored them.
-- Positions on disk skip ahead then: the server may have forgotten what it had numbered, and rows that were written
-- under those numbers must never be taken for later ones. `gaps` names the numbers that count for nothing.
--
-- Keys: state (hash): run, the server's run id   gaps (list; first position that does not count, first that does again)
local POSITIONS_PER_RUN = 4294967296

local function skipPositions()
  local from = hot.spilled
  hot.spilled = (floor(from / POSITIONS_PER_RUN) + 1) * POSITIONS_PER_RUN
  if hot.far > 0 then
    call('RPUSH', P .. 'gaps', pack('<dd', from, hot.spilled))
  end
end

local function meetServer()
  local run = string.match(call('INFO', 'server'), 'run_id:(%w+)')
  local known = call('HGET', P .. 'state', 'run')
  if run == known then
    return
  end
  call('HSET', P .. 'state', 'run', run)
  -- Without one the store is new.
  if known or hot.seq > 0 then
    hot.restores, hot.restored = hot.restores + 1, hot.seq
    skipPositions()
  end
end
