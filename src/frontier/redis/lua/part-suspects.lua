-- Part: requests that may have ended their holder. When one is lost, each request it held becomes a suspect and gets a
-- trial number: of how many it may be one the next time. A holder that holds nothing gets a trial, so many suspects and
-- nothing else, and nothing more until they are settled. What is settled is cleared; what is lost again is tried among
-- at most half as many, then alone, and the third loss alone ends it as WORKER_LOST.
-- Promise: each loss lowers the trial number of a suspect, so every request ends; whoever was lost in company, or is
-- settled once, is never charged.
--
-- Trial number: above ALONE, at most so many together; ALONE and below, alone, and so many losses are left.
-- Keys: state (hash): judge, the holder that takes no more until it holds nothing and can take a trial
--       notes (hash): fate/NUMBER -> code, losses and record of a request that ended here, until a worker has
--       recorded it; at most MOST_NOTED
local ALONE, MOST_TOGETHER, MOST_COUNTED, MOST_NOTED = 3, 255, 255, 10000

local function trialAfter(trial, together)
  if together > 1 then
    return min(MOST_TOGETHER, max(ALONE, floor(together / 2)))
  end
  return ((trial > 0 and trial < ALONE) and trial or ALONE) - 1
end

-- A request whose holder was lost. With a code it is known to be the cause, and fails.
local function accuse(d, value, together, code)
  local priority, fingerprint, lost, record, before = unpackValue(value)
  local trial = code and 0 or trialAfter(before, together)
  local accused = packValue(priority, numberOf(value), fingerprint, min(MOST_COUNTED, lost + 1), record, trial)
  hot.suspects = hot.suspects + (trial > 0 and 1 or 0) - (before > 0 and 1 or 0)
  if trial == 0 then
    hot.lostworkers = hot.lostworkers + 1
    if memory ~= 'r' and call('HLEN', P .. 'notes') < MOST_NOTED then
      call('HSET', P .. 'notes', 'fate/' .. hot.lostworkers, (code or 'WORKER_LOST') .. ' ' .. (lost + 1) .. ' ' .. record)
    end
    return finish(accused, 'F', code or 'WORKER_LOST')
  end
  hot.front = hot.front + 1
  takePlace(d, accused, FIRST_ORDINARY - hot.front, true)
end

-- Its holder lived to settle it.
local function clear(value)
  if not isSuspect(value) then
    return value
  end
  local priority, fingerprint, lost, record = unpackValue(value)
  hot.suspects = hot.suspects - 1
  return packValue(priority, numberOf(value), fingerprint, lost, record, 0)
end

-- How many of these suspects, from the first on, may be tried together.
local function trialSize(values, most)
  local size, together = 0, most
  for _, value in ipairs(values) do
    local _, _, _, _, trial = unpackValue(value)
    together = min(together, trial > ALONE and trial or 1)
    if size + 1 > together then
      return size
    end
    size = size + 1
  end
  return size
end

-- What a holder holds while there are suspects: 'nothing', a 'trial', or 'ordinary' requests; never both.
local function holds(holder)
  local row = call('HRANDFIELD', P .. 'l:' .. holder, 1, 'WITHVALUES')[2]
  if not row then
    return 'nothing'
  end
  return isSuspect(sub(row, 20 + unpackNumbers('<H', row, 18))) and 'trial' or 'ordinary'
end

-- What a holder may be handed while there are suspects: 'ordinary' requests, a 'trial', or 'nothing' for now.
-- `isDue`: a suspect could be handed out.
local function mayHold(holder, isDue)
  local held = holds(holder)
  if held == 'trial' then
    return 'nothing'
  elseif not isDue then
    return 'ordinary'
  elseif held == 'nothing' then
    return 'trial'
  end
  -- Suspects shall not wait until somebody has nothing to do by chance: one holder takes no more until it is free.
  local judge = call('HGET', P .. 'state', 'judge')
  if judge ~= holder and judge and call('ZSCORE', P .. 'holders', judge) then
    return 'ordinary'
  end
  if judge ~= holder then
    call('HSET', P .. 'state', 'judge', holder)
  end
  return 'nothing'
end
