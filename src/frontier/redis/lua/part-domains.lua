-- Part: the domains a script touches. Whoever changes one marks it; flush() writes it and puts it in or takes it out
-- of `due`, in the order of marking, so that domains due at the same moment keep their order.
-- A domain's key is two bytes of its bucket and its name; its row is at most 64 bytes, which keeps buckets packed.
--
-- Keys: d:BUCKET (hash, name -> row)  due (zset by due time; member: tie and domain key)
--       q:DOMAIN (list, the line)     p:DOMAIN (zset, places beside the line)
local ROW = '<ddddI4I4I4I2I2'
local domains, marked = {}, {}

local function domainOf(key)
  local d = domains[key]
  if d then
    return d
  end
  local bucket, name = P .. 'd:' .. sub(key, 1, 2), sub(key, 3)
  local delay, allowed, ready, tie, queued, places, far, turns, landed = -1, 0, 0, 0, 0, 0, 0, 0, 0
  local row = call('HGET', bucket, name)
  if row then
    delay, allowed, ready, tie, queued, places, far, turns, landed = struct.unpack(ROW, row)
  end
  d = { key = key, bucket = bucket, name = name, tail = false, delay = delay, allowed = allowed, ready = ready, tie = tie,
    queued = queued, places = places, far = far, turns = turns, landed = landed, marked = false, toBack = false,
    due = tie > 0 and max(allowed, ready) or -1 }
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

local function dueMember(d)
  return struct.pack('>I4I4', floor(d.tie / 4294967296), d.tie % 4294967296) .. d.key
end

local function pushTail(d)
  if d.tail then
    each500('RPUSH', P .. 'q:' .. d.key, d.tail)
    d.tail = false
  end
end

local function flush()
  local leaving, entering = {}, {}
  for _, d in ipairs(marked) do
    pushTail(d)
    local isReady = d.queued > 0 and d.turns < turnsOf(d)
    local due = isReady and max(d.allowed, d.ready) or -1
    if due ~= d.due or (d.toBack and isReady) then
      if d.tie > 0 then
        leaving[#leaving + 1] = dueMember(d)
        d.tie = 0
      end
      d.due = due
      if isReady then
        hot.tie = hot.tie + 1
        d.tie = hot.tie
        entering[#entering + 1] = due
        entering[#entering + 1] = dueMember(d)
      end
    end
    call('HSET', d.bucket, d.name, struct.pack(ROW, d.delay, d.allowed, d.ready, d.tie, d.queued, d.places, d.far,
      d.turns, d.landed))
    d.marked, d.toBack = false, false
  end
  marked = {}
  each500('ZREM', P .. 'due', leaving)
  each500('ZADD', P .. 'due', entering)
end
