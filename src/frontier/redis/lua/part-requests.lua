-- Part: a request's way through the store. Each step moves exactly one count from one counter to another, so that
-- accepted = queued + retrying + leased + done + failed + skipped whenever a script ends.
--
-- Keys: waiting (zset by the time a wait ends; member: number, 1 if it goes to the end, domain key, value)
local MAX_RETURNS = 250

-- `isFresh`: the domain's wait begins now if it had nothing queued; otherwise it keeps its place among domains.
local function enter(d, isFresh)
  if isFresh and d.queued == 0 then
    d.ready = hot.now
  end
  d.queued = d.queued + 1
  hot.queued = hot.queued + 1
  mark(d)
end

local function joinLine(d, value)
  enter(d, true)
  local tail = d.tail
  if tail then
    tail[#tail + 1] = value
  else
    d.tail = { value }
  end
end

local function takePlace(d, value, place, isFresh)
  enter(d, isFresh)
  d.places = d.places + 1
  if place < FIRST_ORDINARY then
    d.suspects = d.suspects + 1
  end
  call('ZADD', P .. 'p:' .. d.key, place, value)
end

local function queueInFront(d, value)
  hot.front = hot.front + 1
  takePlace(d, value, placeOf(byte(value, 1) % 8 - 2, -hot.front), true)
end

local function queueLast(d, value)
  local priority = byte(value, 1) % 8 - 2
  local renumbered = withNumber(value, nextNumber())
  if priority == 0 then
    joinLine(d, renumbered)
  else
    takePlace(d, renumbered, placeOf(priority, hot.number), true)
  end
end

local function wait(d, value, afterMs, toEnd)
  local member = sub(value, 2, 5) .. (toEnd and '\1' or '\0') .. pack('<I2', #d.key) .. d.key .. value
  call('ZADD', P .. 'waiting', hot.now + afterMs, member)
  hot.retrying = hot.retrying + 1
  remember(value, 'R', '')
end

-- Queues the requests whose wait is over. Each goes to the very front, so the one that waited longest goes last.
local function returnFromWaiting()
  if hot.retrying == 0 then
    return
  end
  local over = call('ZRANGEBYSCORE', P .. 'waiting', '-inf', hot.now, 'LIMIT', 0, MAX_RETURNS)
  each500('ZREM', P .. 'waiting', over)
  for i = #over, 1, -1 do
    local length = unpackNumbers('<I2', over[i], 6)
    local d, value = domainOf(sub(over[i], 8, 7 + length)), sub(over[i], 8 + length)
    hot.retrying = hot.retrying - 1
    remember(value, 'Q', '')
    if byte(over[i], 5) == 1 then
      queueLast(d, value)
    else
      queueInFront(d, value)
    end
  end
end

local ENDS = { D = 'done', F = 'failed', S = 'skipped' }

-- Ends a request that is no longer held.
local function finish(value, state, reason)
  hot[ENDS[state]] = hot[ENDS[state]] + 1
  remember(value, state, reason)
end
