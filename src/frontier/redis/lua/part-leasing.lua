-- Part: which domains are due, in which order, and the requests that leave their queues.
-- Promise: no domain is asked beyond its turns, nor before its time; the longest due first, one request of it, then
-- the next domain. A domain whose head runs low is named in `refill` (set), for the keeper.

local TIE_BYTES = 6

-- The domains to take requests from, one entry per request.
local function pickDomains(wanted)
  local line, served, picked, at = {}, {}, {}, 1
  for i, member in ipairs(call('ZRANGEBYSCORE', P .. 'due', '-inf', hot.now, 'LIMIT', 0, wanted)) do
    local d = domainOf(sub(member, TIE_BYTES + 1))
    line[i] = d
    if lineLength(d) <= turnsOf(d) - d.turns then
      exact(d)
    end
  end
  while at <= #line and #picked < wanted do
    local d = line[at]
    at = at + 1
    if d.turns >= turnsOf(d) then
      -- Due by a pacing that was changed since.
      mark(d)
    else
      d.turns = d.turns + 1
      d.queued = d.queued - 1
      picked[#picked + 1] = d
      served[d] = true
      if near(d) > 0 and d.turns < turnsOf(d) then
        d.ready = hot.now
        d.toBack = true
        line[#line + 1] = d
      end
    end
  end
  -- Marked in the order of the line: that is the order in which they are due again.
  for i = at, #line do
    if served[line[i]] then
      mark(line[i])
    end
  end
  for _, d in ipairs(picked) do
    mark(d)
  end
  return picked
end

-- The domains to take suspects from, one entry per request: as many as may be tried together.
local function pickTrial(wanted)
  local suspects, of, picked = {}, {}, {}
  for _, member in ipairs(call('ZRANGEBYSCORE', P .. 'accused', '-inf', hot.now, 'LIMIT', 0, wanted)) do
    local d = domainOf(sub(member, TIE_BYTES + 1))
    local free = max(0, turnsOf(d) - d.turns)
    mark(d)
    for _, value in ipairs(call('ZRANGEBYSCORE', P .. 'p:' .. d.key, '-inf', BELOW_ORDINARY, 'LIMIT', 0, free)) do
      suspects[#suspects + 1] = value
      of[#of + 1] = d
    end
  end
  for i = 1, trialSize(suspects, wanted) do
    local d = of[i]
    d.turns, d.queued, d.suspects = d.turns + 1, d.queued - 1, d.suspects - 1
    picked[i] = d
  end
  return picked
end

-- `taken`: value, place, value, place, …
local function takePlaces(d, count, before, taken)
  local found = call('ZRANGEBYSCORE', P .. 'p:' .. d.key, '-inf', before, 'WITHSCORES', 'LIMIT', 0, count)
  local members = {}
  for i = 1, #found, 2 do
    members[#members + 1] = found[i]
    taken[#taken + 1] = found[i]
    taken[#taken + 1] = tonumber(found[i + 1])
  end
  each500('ZREM', P .. 'p:' .. d.key, members)
  d.places = d.places - #members
end

-- The first `count` of a domain's queue: places before the line, the line, places behind it. The caller has already
-- counted them out of d.queued.
local function takeFront(d, count)
  local taken = {}
  if d.places > 0 then
    takePlaces(d, count, '(' .. string.format('%.0f', FIRST_BEHIND), taken)
  end
  local missing = count - #taken / 2
  if missing > 0 then
    for _, value in ipairs(call('LPOP', P .. 'q:' .. d.key, missing) or {}) do
      taken[#taken + 1] = value
      taken[#taken + 1] = placeOf(0, numberOf(value))
    end
  end
  missing = count - #taken / 2
  if missing > 0 and d.places > 0 then
    takePlaces(d, missing, '+inf', taken)
  end
  if d.far > 0 then
    exact(d)
  end
  if d.far > 0 and lineLength(d) <= domainHead / 2 then
    call('SADD', P .. 'refill', d.key)
  end
  return taken
end

local REFILL_MS = 100

-- How long until something queued may be due; nil when nothing is queued that time alone would free.
local function nextDue()
  local soonest
  for _, key in ipairs(hot.suspects > 0 and { 'due', 'waiting', 'accused' } or { 'due', 'waiting' }) do
    local first = call('ZRANGE', P .. key, 0, 0, 'WITHSCORES')
    if first[2] then
      local at = tonumber(first[2])
      soonest = soonest and min(soonest, at) or at
    end
  end
  if hot.far > 0 then
    -- The keeper brings it within moments.
    soonest = min(soonest or hot.now + REFILL_MS, hot.now + REFILL_MS)
  end
  return soonest and max(0, max(soonest, hot.quiet) - hot.now)
end
