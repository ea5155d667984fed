#!lua flags=allow-oom
--@include frame values domains seen requests suspects holders calls leasing
-- Leases due requests, taking each one's turn.
--
-- ARGV[1..5]  see the parts frame and calls
-- ARGV[6]     at most so many
-- ARGV[7]     hand out nothing that could bring done + failed above this; inf for no limit
-- ARGV[8]     the opening whose holder this is (openers)
-- ARGV[9]     bulk skips at most
-- ARGV[10..]  keys of domains of which bulk skips come along, where they get a turn
-- Keys:       those of the parts
-- Returns     {the call's id, pod time, sequence number, 1 unless the holder was lost, state: more | waiting | exhausted,
--             milliseconds until the next may be due or -1, id of the first lease, rows of the leases}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
expire()
if not renew(holder) then
  save()
  return { callId, hot.now, hot.seq, 0 }
end
local answer, isTooOld = firstAnswer()
if isTooOld then
  save()
  return redis.error_reply('OLDCALL')
end
if answer then
  local first, count, nextMs = unpackNumbers('<ddd', answer)
  local ids = {}
  for id = first, first + count - 1 do
    ids[#ids + 1] = pack('<d', id)
  end
  save()
  local rows = #ids > 0 and call('HMGET', P .. 'l:' .. holder, unpack(ids)) or {}
  return { callId, hot.now, hot.seq, 1, sub(answer, 25), nextMs, first, rows }
end

returnFromWaiting()
flush()
local most, held = tonumber(ARGV[6]), hot.leased + hot.parsing
local allowed = tonumber(ARGV[7]) - hot.done - hot.failed - held
-- Stored plus one: 0 means unlimited, 1 means that nothing is allowed.
if hot.allowance > 0 then
  allowed = min(allowed, hot.allowance - 1 - hot.done - held)
end
local wanted = hot.quiet > hot.now and 0 or max(0, min(most, allowed))
local first, rows, written = hot.lease + 1, {}, {}
local BULK_SKIPS_PER_DOMAIN, BULK_SKIP, HELD_BACK_MS = 64, 3, 100

local function give(d, value, place, flags)
  hot.lease = hot.lease + 1
  local row = pack(LEASE, place, delayOf(d), flags, #d.key, d.key, value)
  rows[#rows + 1] = row
  written[#written + 1] = pack('<d', hot.lease)
  written[#written + 1] = row
end

local turn = 'ordinary'
if hot.suspects > 0 and wanted > 0 then
  turn = mayHold(holder, call('ZCOUNT', P .. 'accused', '-inf', hot.now) > 0)
end
local picked = {}
if wanted > 0 and turn ~= 'nothing' then
  picked = turn == 'trial' and pickTrial(wanted) or pickDomains(wanted)
end
if #picked > 0 then
  enrol(holder, ARGV[8])
  local counts, taken, used = {}, {}, {}
  for _, d in ipairs(picked) do
    counts[d] = (counts[d] or 0) + 1
  end
  for d, count in pairs(counts) do
    taken[d], used[d] = takeFront(d, count), 0
  end
  for _, d in ipairs(picked) do
    local of, at = taken[d], used[d]
    used[d] = at + 2
    give(d, of[at + 1], of[at + 2], 0)
  end
  -- Further requests of the bulk-skipped domains that got a turn: they hold none, so no pace is touched.
  local room = min(tonumber(ARGV[9]), allowed - #picked)
  for i = 10, turn == 'trial' and 0 or #ARGV do
    local d = domains[ARGV[i]]
    if d and counts[d] then
      exact(d)
    end
    local count = d and counts[d] and min(BULK_SKIPS_PER_DOMAIN, room, near(d)) or 0
    if count > 0 then
      d.queued, d.landed, room = d.queued - count, d.landed + count, room - count
      local of = takeFront(d, count)
      for at = 1, #of, 2 do
        give(d, of[at], of[at + 1], BULK_SKIP)
      end
      counts[d] = nil
      mark(d)
    end
  end
  hot.queued = hot.queued - #rows
  hot.leased = hot.leased + #rows
  each500('HSET', P .. 'l:' .. holder, written)
end
flush()

local state, nextMs = 'waiting', -1
if most > 0 and #picked == most then
  state = 'more'
elseif hot.queued + hot.retrying + hot.leased + hot.parsing == 0 then
  state = 'exhausted'
elseif turn ~= 'ordinary' then
  -- There is more for it once what it holds is settled, at an unknown time.
  nextMs = HELD_BACK_MS
elseif most == 0 or allowed >= most or #picked < allowed then
  -- When only the limit holds requests back, time alone will not free them.
  nextMs = nextDue() or -1
  if most == 0 and nextMs == 0 then
    state, nextMs = 'more', -1
  end
end
keepAnswer(pack('<ddd', first, #rows, nextMs) .. state)
save()
return { callId, hot.now, hot.seq, 1, state, nextMs, first, rows }
