-- Part: the domains a script touches. Whoever changes one marks it; flush() writes it and puts it in or takes it out
-- of `due`, in the order of marking, so that domains due at the same moment keep their order.
-- A domain's key is two bytes of its bucket and its name; its row is 35 bytes, which keeps buckets packed.
-- The length of its line is the list's own: a request that joins a line changes nothing else. The row has a length
-- that the line has at least, which spares asking for it; exact() asks.
-- Times and delays are whole milliseconds; the delay is stored plus one, 0 for none of its own.
--
-- Of a long line only the first `domainHead` requests stay in Redis; later ones are `far`: in `overflow` until the
-- keeper has written them to disk, and there until the head has room again.
--
-- A domain with a suspect in its queue (part-suspects.lua) is in `accused` instead of `due`: nothing else of it is
-- handed out before. Without suspects in the pod they are not looked for.
--
-- Keys: d:BUCKET (hash, name -> row)  due, accused (zsets by due time; member: tie and domain key)
--       q:DOMAIN (list, the line)     p:DOMAIN (zset, places beside the line)
--       overflow (list; length of the domain key, domain key, value)   long (set, domains with far requests)
--       spill (hash, domain with far requests -> position of the next that comes back)
local ROW = '<I4I6I6I6I4I4I2I2B'
local MOST_DELAY, MOST_TIME, MOST_AT_LEAST = 4294967294, 2 ^ 48 - 1, 255
local domains, marked = {}, {}

-- `length`: of its line, where the caller has just heard it.
local function domainOf(key, length)
  local d = domains[key]
  if d then
    return d
  end
  local bucket, name = P .. 'd:' .. sub(key, 1, 2), sub(key, 3)
  local delay, allowed, ready, tie, places, far, turns, landed, atLeast = 0, 0, 0, 0, 0, 0, 0, 0, 0
  local row = call('HGET', bucket, name)
  if row then
    delay, allowed, ready, tie, places, far, turns, landed, atLeast = unpackNumbers(ROW, row)
  end
  local suspects = hot.suspects > 0 and places > 0 and call('ZCOUNT', P .. 'p:' .. key, '-inf', BELOW_ORDINARY) or 0
  local isExact = length ~= nil or atLeast == 0
  local line = length or (isExact and call('LLEN', P .. 'q:' .. key)) or atLeast
  d = { key = key, bucket = bucket, name = name, tail = false, delay = delay - 1, allowed = allowed, ready = ready,
    tie = tie, queued = line + places + far, places = places, far = far, turns = turns, landed = landed, marked = false,
    toBack = false, isExact = isExact, due = tie > 0 and max(allowed, ready) or -1, suspects = suspects,
    isAccused = suspects > 0 }
  domains[key] = d
  return d
end

local function mark(d)
  if not d.marked then
    d.marked = true
    marked[#marked + 1] = d
  end
end

local function delayOf(d)
  return d.delay < 0 and paceDelayMs or d.delay
end

-- A delay means one turn.
local function turnsOf(d)
  return delayOf(d) > 0 and 1 or paceTurns
end

local function setDelay(d, delayMs)
  d.delay = min(MOST_DELAY, ceil(delayMs))
end

local function restUntil(d, timeMs)
  d.allowed = min(MOST_TIME, max(d.allowed, ceil(timeMs)))
end

local function dueMember(d)
  return pack('>I6c0', d.tie, d.key)
end

-- Requests that can be handed out: those that are in Redis.
local function near(d)
  return d.queued - d.far
end

-- At least; exactly after exact().
local function lineLength(d)
  return d.queued - d.far - d.places
end

-- Not between the moment when requests are counted out of a line and the one when they leave it.
local function exact(d)
  if not d.isExact then
    local tail = d.tail and #d.tail or 0
    d.queued = d.places + d.far + tail + call('LLEN', P .. 'q:' .. d.key)
    d.isExact = true
  end
end

local function pushTail(d)
  if not d.tail then
    return
  end
  if domainHead > 0 then
    exact(d)
  end
  local tail, far = d.tail, nil
  d.tail = false
  if domainHead > 0 then
    local room = d.far > 0 and 0 or max(0, domainHead - (lineLength(d) - #tail))
    local staying = {}
    far = {}
    for i, value in ipairs(tail) do
      if i <= room then
        staying[i] = value
      else
        far[#far + 1] = pack('<H', #d.key) .. d.key .. value
      end
    end
    tail = staying
    if d.far == 0 and #far > 0 then
      -- The position its first row will have: whatever of it lies on disk before has come back already.
      call('HSET', P .. 'spill', d.key, string.format('%.0f', hot.spilled + hot.overflow))
      call('SADD', P .. 'long', d.key)
    end
    d.far, hot.far, hot.overflow = d.far + #far, hot.far + #far, hot.overflow + #far
    each500('RPUSH', P .. 'overflow', far)
  end
  each500('RPUSH', P .. 'q:' .. d.key, tail)
end

local function flush()
  local leaving, entering, unaccused, accused = {}, {}, {}, {}
  for _, d in ipairs(marked) do
    pushTail(d)
    local isReady = near(d) > 0 and d.turns < turnsOf(d)
    local due = isReady and max(d.allowed, d.ready) or -1
    local isAccused = d.suspects > 0
    if due ~= d.due or (d.toBack and isReady) or isAccused ~= d.isAccused then
      if d.tie > 0 then
        local from = d.isAccused and unaccused or leaving
        from[#from + 1] = dueMember(d)
        d.tie = 0
      end
      d.due, d.isAccused = due, isAccused
      if isReady then
        hot.tie = hot.tie + 1
        d.tie = hot.tie
        local to = isAccused and accused or entering
        to[#to + 1] = due
        to[#to + 1] = dueMember(d)
      end
    end
    call('HSET', d.bucket, d.name, pack(ROW, d.delay + 1, d.allowed, d.ready, d.tie, d.places, d.far, d.turns, d.landed,
      min(MOST_AT_LEAST, lineLength(d))))
    d.marked, d.toBack = false, false
  end
  marked = {}
  each500('ZREM', P .. 'due', leaving)
  each500('ZADD', P .. 'due', entering)
  each500('ZREM', P .. 'accused', unaccused)
  each500('ZADD', P .. 'accused', accused)
end
