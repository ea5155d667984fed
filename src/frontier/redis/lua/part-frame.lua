-- Part, first in every script: the arguments that all share, the pod's numbers, and the pod clock.
-- Promise: nothing is written before the store is known to be the one the caller opened.
--
-- ARGV[1]  prefix of every key
-- ARGV[2]  frame, packed: time since the caller heard last, upper bound of pod time, wall clock or -1 for TIME, lease time,
--          delay and turns of domains without a delay of their own, answers kept per holder, the store's id,
--          requests kept in Redis per domain (0: all), requests that may wait to be spilled,
--          how seen requests are remembered and its three numbers (part-seen.lua),
--          how many requests of a domain are accepted in all (0: any number), number of the call the caller heard last,
--          an id of this call, with which every answer begins
-- Keys:    state (hash): the store's id; numbers: counters, next ids, the clock, packed; written by save()
local P = ARGV[1]
local call, byte, sub, char = redis.call, string.byte, string.sub, string.char
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local pack, unpackNumbers = struct.pack, struct.unpack
local passedMs, upperMs, wallMs, leaseMs, paceDelayMs, paceTurns, answersKept, storeId, domainHead, overflowLimit,
  memory, memoryA, memoryB, memoryC, domainBudget, heardSeq, callId = unpackNumbers('<dddddI4I4c8ddc1dddddI4', ARGV[2])

-- In the order of `STATE_NUMBERS` (state-numbers.ts). One string: thirty fields cost as much as twenty links.
local NUMBERS_COUNT = 33
local NUMBERS = '<' .. string.rep('d', NUMBERS_COUNT)
local hot, loadedNow = {}, 0
local stored = call('HMGET', P .. 'state', 'store', 'numbers')

local function isOurStore()
  return stored[1] == storeId
end

local ON_ITS_WAY_MS, BELIEVED_MS = 250, 1000

-- Pod time follows the server's, never goes back, and advances no faster than the caller's monotonic clock.
local function tick()
  -- Pod time has whole milliseconds.
  local wall = floor(wallMs)
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
  -- What the caller knows has passed counts, whatever the server's clock says, if it made the last call itself. Else pod
  -- time may lag behind what it knows, by what a newcomer was not believed or a clock set back: to catch up at once would
  -- end waits and leases that were given meanwhile before their time.
  hot.now = max(min(full, upperMs), hot.now + (heardSeq == hot.seq and passedMs or 0))
  -- A little behind: the call was long on its way, and the next one counts what this one could not. More is a jump of
  -- the server's clock, which counts for nothing.
  local behind = full - hot.now
  hot.wall = (behind > 0 and behind < ON_ITS_WAY_MS) and wall - behind or wall
end

local function load()
  local numbers = stored[2] or ''
  -- A number that came later starts at 0.
  if #numbers < 8 * NUMBERS_COUNT then
    numbers = numbers .. string.rep('\0', 8 * NUMBERS_COUNT - #numbers)
  end
  hot.accepted, hot.queued, hot.retrying, hot.leased, hot.done, hot.failed, hot.skipped, hot.number, hot.front, hot.tie,
    hot.lease, hot.holder, hot.now, hot.wall, hot.seq, hot.quiet, hot.began, hot.restored, hot.seen, hot.buckets,
    hot.far, hot.overflow, hot.spilled, hot.parsing, hot.parsebytes, hot.outbox, hot.allowance, hot.epoch,
    hot.offered, hot.dropped, hot.suspects, hot.beganbefore, hot.lostworkers = unpackNumbers(NUMBERS, numbers)
  loadedNow = hot.now
  tick()
end

-- Guarantee 5: the counters add up, and none is negative. Whatever broke that, nothing goes on from there.
local function checkCounters()
  local least = min(hot.queued, hot.retrying, hot.leased, hot.parsing, hot.far, hot.overflow, hot.outbox)
  local sum = hot.queued + hot.retrying + hot.leased + hot.parsing + hot.done + hot.failed + hot.skipped
  if least < 0 or sum ~= hot.accepted or hot.far > hot.queued then
    error(string.format('CORRUPT counters: accepted %d, queued %d (on disk %d, on their way there %d), retrying %d, '
      .. 'leased %d, parsing %d, done %d, failed %d, skipped %d, in the outbox %d', hot.accepted, hot.queued, hot.far,
      hot.overflow, hot.retrying, hot.leased, hot.parsing, hot.done, hot.failed, hot.skipped, hot.outbox))
  end
end

-- The last write of a script: its sequence number tells a client whether the server forgot it.
local function save()
  checkCounters()
  hot.seq = hot.seq + 1
  call('HSET', P .. 'state', 'numbers', pack(NUMBERS, hot.accepted, hot.queued, hot.retrying, hot.leased, hot.done,
    hot.failed, hot.skipped, hot.number, hot.front, hot.tie, hot.lease, hot.holder, hot.now, hot.wall, hot.seq, hot.quiet,
    hot.began, hot.restored, hot.seen, hot.buckets, hot.far, hot.overflow, hot.spilled, hot.parsing, hot.parsebytes,
    hot.outbox, hot.allowance, hot.epoch, hot.offered, hot.dropped, hot.suspects, hot.beganbefore, hot.lostworkers))
end

-- For a script that only looked: a write costs the server more than the look. The clock is kept fresh, since a process
-- that comes new believes only a second of it.
local FRESH_MS = 250

local function saveLook(isChanged)
  if isChanged or hot.now - loadedNow >= FRESH_MS then
    save()
  end
end

-- A command with a list of any length, some at a time: Lua cannot pass more than 8,000 arguments.
local function each500(command, key, list)
  for from = 1, #list, 500 do
    call(command, key, unpack(list, from, min(from + 499, #list)))
  end
end
