-- Part: who holds leases and until when; a holder that is lost loses everything at once, and what it held is suspected
-- of having ended it (part-suspects.lua).
-- A lease is one row: place, the domain's delay, flags, length of the domain key, domain key, value.
-- Flags: 1 landed, its turn has been given back; 2 a bulk skip, which came along on another's turn and never held one.
--
-- Keys: holders (zset, holder by the time it is lost unless heard of)   life (hash, holder -> enrolment number, opener)
--       l:HOLDER (hash, lease id as a packed double -> row)   lost (zset, holder by the time it was lost, kept a day)
local LOST_KEPT_MS = 86400000

local LEASE_HEAD, LEASE = '<ddBHc0', '<ddBHc0c0'

local function unpackLease(row)
  local place, delay, flags, key, at = unpackNumbers(LEASE_HEAD, row)
  return { place = place, delay = delay, landed = flags % 2 == 1, bulkSkip = flags >= 2, key = key, value = sub(row, at) }
end

local function isBulkSkip(row)
  return byte(row, 17) >= 2
end

local function packLease(lease)
  local flags = (lease.landed and 1 or 0) + (lease.bulkSkip and 2 or 0)
  return pack(LEASE, lease.place, lease.delay, flags, #lease.key, lease.key, lease.value)
end

-- The lease's own count and its turn are given back, whatever becomes of the request.
local function letGo(lease, d)
  hot.leased = hot.leased - 1
  if lease.landed then
    d.landed = d.landed - 1
  else
    d.turns = d.turns - 1
  end
  mark(d)
end

-- As if it had never been leased.
local function giveBack(lease)
  local d = domainOf(lease.key)
  letGo(lease, d)
  takePlace(d, lease.value, lease.place, false)
end

-- `together`: how many the lost holder held that may have ended it; 0 when this one did not.
local function loseLease(lease, together, code)
  if lease.bulkSkip then
    -- It was never sent.
    return giveBack(lease)
  end
  local d = domainOf(lease.key)
  if not lease.landed then
    -- Nobody knows whether the server was asked: the delay runs from now.
    if d.turns >= turnsOf(d) then
      d.ready = hot.now
    end
    if delayOf(d) > 0 then
      restUntil(d, hot.now + delayOf(d))
    end
  end
  letGo(lease, d)
  if together == 0 then
    return takePlace(d, lease.value, lease.place, false)
  end
  accuse(d, lease.value, together, code)
end

-- What a holder has, the last in the queue first: each goes in front of the one before, so their order stays.
local function leasesOf(holder)
  local rows, leases = call('HGETALL', P .. 'l:' .. holder), {}
  for i = 1, #rows, 2 do
    local lease = unpackLease(rows[i + 1])
    lease.id = rows[i]
    leases[#leases + 1] = lease
  end
  table.sort(leases, function(a, b)
    return a.place > b.place
  end)
  return leases
end

local function forget(holder)
  call('DEL', P .. 'l:' .. holder)
  call('ZREM', P .. 'holders', holder)
  call('HDEL', P .. 'life', holder)
  -- One that comes back under its name is a new holder.
  if call('HGET', P .. 'state', 'judge') == holder then
    call('HDEL', P .. 'state', 'judge')
  end
end

-- `blamed` (may be missing): the leases of which one ended the holder, by id; `code`: it is one, and fails with it.
local function lose(holder, blamed, code)
  local leases, together, named = leasesOf(holder), 0, 0
  for _, lease in ipairs(leases) do
    together = together + (lease.bulkSkip and 0 or 1)
    lease.blamed = blamed and blamed[lease.id] and not lease.bulkSkip
    named = named + (lease.blamed and 1 or 0)
  end
  for _, lease in ipairs(leases) do
    if named == 0 then
      loseLease(lease, together)
    else
      loseLease(lease, lease.blamed and named or 0, named == 1 and code or nil)
    end
  end
  forget(holder)
  -- One holder after the other, so that the order of domains due at the same moment does not depend on chance.
  flush()
  return #leases
end

local function refuseFromNow(holder)
  call('ZADD', P .. 'lost', hot.now, holder)
  call('ZREMRANGEBYSCORE', P .. 'lost', '-inf', hot.now - LOST_KEPT_MS)
end

-- Loses every holder that fell silent, in the order of their first lease; whether there was one.
local function expire()
  local silent = call('ZRANGEBYSCORE', P .. 'holders', '-inf', '(' .. string.format('%.0f', hot.now))
  if #silent == 0 then
    return false
  end
  local numbers = {}
  for _, holder in ipairs(silent) do
    numbers[holder] = tonumber(string.match(call('HGET', P .. 'life', holder) or '0', '^%d+'))
  end
  table.sort(silent, function(a, b)
    return numbers[a] < numbers[b]
  end)
  for _, holder in ipairs(silent) do
    if lose(holder) > 0 then
      refuseFromNow(holder)
    end
  end
  return true
end

-- Any call renews everything its holder holds. False when it was lost and must begin a new life.
local function renew(holder)
  if call('ZSCORE', P .. 'holders', holder) then
    call('ZADD', P .. 'holders', hot.now + leaseMs, holder)
    return true
  end
  return not call('ZSCORE', P .. 'lost', holder)
end

local function enrol(holder, opener)
  if call('ZSCORE', P .. 'holders', holder) then
    return
  end
  hot.holder = hot.holder + 1
  call('HSET', P .. 'life', holder, string.format('%.0f ', hot.holder) .. opener)
  call('ZADD', P .. 'holders', hot.now + leaseMs, holder)
end
