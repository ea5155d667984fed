-- Part, first in every script: the arguments that all share, the pod's numbers, and the pod clock.
-- Promise: nothing is written before the store is known to be the one the caller opened.
--
-- ARGV[1]  prefix of every key
-- ARGV[2]  frame, packed: lower and upper bound of pod time, the caller's wall clock or -1 for TIME, lease time,
--          delay and turns of domains without a delay of their own, answers kept a holder, the store's id,
--          requests a domain keeps in Redis (0: all), requests that may wait to be spilled,
--          how seen requests are remembered and its three numbers (part-seen.lua)
-- Keys:    state (hash): counters, next ids, the clock; written by save()
local P = ARGV[1]
local call, byte, sub, char = redis.call, string.byte, string.sub, string.char
local floor, max, min = math.floor, math.max, math.min
local lowerMs, upperMs, wallMs, leaseMs, paceDelayMs, paceTurns, answersKept, storeId, domainHead, overflowLimit,
  memory, memoryA, memoryB, memoryC = struct.unpack('<dddddI4I4c8ddc1ddd', ARGV[2])

local FIELDS = {
  'accepted', 'queued', 'retrying', 'leased', 'done', 'failed', 'skipped', 'number', 'front', 'tie', 'lease', 'holder',
  'now', 'wall', 'seq', 'quiet', 'restores', 'restored', 'seen', 'buckets', 'far', 'overflow', 'spilled',
  'parsing', 'parsebytes', 'outbox', 'allowance', 'epoch',
}
local hot = {}
local stored = call('HMGET', P .. 'state', 'store', unpack(FIELDS))

local function isOurStore()
  return stored[1] == storeId
end

local ON_ITS_WAY_MS, BELIEVED_MS = 250, 1000

-- Pod time follows the server's, never goes back, and advances no faster than the caller's monotonic clock.
local function tick()
  local wall = wallMs
  if wall < 0 then
    local time = call('TIME')
    wall = tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)
  end
  -- A caller that has heard nothing yet has no measure of its own. While others call, little passed since the last of
  -- them, and the server's clock is believed that much: taking it away would set pod time back against what they know.
  if upperMs <= 0 and hot.wall > 0 then
    local passed = wall - hot.wall
    hot.now = hot.now + ((passed > 0 and passed < BELIEVED_MS) and passed or 0)
    hot.wall = wall
    return
  end
  local full = hot.now + wall - hot.wall
  hot.now = max(hot.now, min(full, upperMs), lowerMs)
  -- A little behind: the call was long on its way, and the next one counts what this one could not. More is a jump of
  -- the server's clock, which counts for nothing.
  local behind = full - hot.now
  hot.wall = (behind > 0 and behind < ON_ITS_WAY_MS) and wall - behind or wall
end

local function load()
  for i, field in ipairs(FIELDS) do
    hot[field] = tonumber(stored[i + 1]) or 0
  end
  tick()
end

-- The last write of a script: its sequence number tells a client whether the server forgot it.
local function save()
  hot.seq = hot.seq + 1
  local changed = {}
  for i, field in ipairs(FIELDS) do
    if hot[field] ~= (tonumber(stored[i + 1]) or 0) then
      changed[#changed + 1] = field
      changed[#changed + 1] = hot[field]
    end
  end
  call('HSET', P .. 'state', unpack(changed))
end

-- A command with a list of any length, some at a time: Lua cannot pass more than 8,000 arguments.
local function each500(command, key, list)
  for from = 1, #list, 500 do
    call(command, key, unpack(list, from, min(from + 499, #list)))
  end
end
