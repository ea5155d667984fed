#!lua flags=allow-oom
--@include frame values domains seen requests suspects holders calls
-- Lands responses, ends visits or gives them back, and makes notes true: all at once, or nothing.
-- The links of the visits came before, with add.lua.
--
-- ARGV[1..5]  see the parts frame and calls
-- ARGV[6]     landings, packed: lease, delay or -1, pause
-- ARGV[7]     settlements, packed: lease, kind, milliseconds to wait (of kind 5: bytes of the capture), 1 if to the end,
--             length of the reason (of kind 5: the capture's name), 1 if with record, its length, reason, record
-- ARGV[8..]   notes: name, then '=' and the text, or '' to forget it
-- Keys:       those of the parts; notes (hash)  outbox (hash)  fetch:queue (list; lease id, bytes, length of the
--             capture's name, name, row of the lease)
-- Returns     {the call's id, pod time, sequence number, 0 if nothing happened because the holder was lost, one
--             digit per settlement: 1 if it was its to make}
if not isOurStore() then
  return redis.error_reply('EMPTIED')
end
load()
expire()
local isHeld = renew(holder)
local answer, isTooOld = firstAnswer()
if isTooOld then
  save()
  return redis.error_reply('OLDCALL')
end
-- A call that has happened is acknowledged, even if its holder was lost since: a caller that hears otherwise removes
-- what it stored.
if answer or not isHeld then
  save()
  return { callId, hot.now, hot.seq, answer and 1 or 0, answer or '' }
end

-- Notes named outbox/POD/LINKS/… hold links for a pod that is away. They are kept apart from the others, and full is
-- full: then nothing of the call happens.
local function linksInNote(name)
  return tonumber(string.match(name, '^outbox/%d+/(%d+)/'))
end
local OUTBOX_LIMIT, fresh = 200000, 0
for i = 8, #ARGV, 2 do
  fresh = fresh + (ARGV[i + 1] ~= '' and linksInNote(ARGV[i]) or 0)
end
if fresh > 0 and hot.outbox + fresh > OUTBOX_LIMIT then
  save()
  return redis.error_reply('OUTBOX')
end

-- Every lease the call names, read at once.
local settlements, ids, at = {}, {}, 1
for from = 1, #ARGV[6], 24 do
  ids[#ids + 1] = sub(ARGV[6], from, from + 7)
end
while at <= #ARGV[7] do
  local id = sub(ARGV[7], at, at + 7)
  local kind, afterMs, toEnd, reasonBytes, hasRecord, recordBytes, start = unpackNumbers('<BdBI2BI4', ARGV[7], at + 8)
  local record = start + reasonBytes
  at = record + recordBytes
  ids[#ids + 1] = id
  settlements[#settlements + 1] = { id = id, kind = kind, afterMs = afterMs, toEnd = toEnd == 1,
    reason = sub(ARGV[7], start, record - 1), record = hasRecord == 1 and sub(ARGV[7], record, at - 1) or nil }
end
local held, changed, ended = {}, {}, {}
for from = 1, #ids, 500 do
  for i, row in ipairs(call('HMGET', P .. 'l:' .. holder, unpack(ids, from, min(from + 499, #ids)))) do
    held[ids[from + i - 1]] = row and unpackLease(row) or nil
  end
end

-- The response has ended: the turn is free, and the delay runs from now.
local function land(lease, delayMs, pauseMs)
  local d = domainOf(lease.key)
  -- A domain that had a turn free all along has been ready all along.
  if d.turns >= turnsOf(d) then
    d.ready = hot.now
  end
  lease.landed = true
  d.turns, d.landed = d.turns - 1, d.landed + 1
  if delayMs >= 0 then
    setDelay(d, delayMs)
  end
  local restMs = max(delayOf(d), pauseMs)
  if restMs > 0 then
    restUntil(d, hot.now + restMs)
  end
  mark(d)
end

for from = 1, #ARGV[6], 24 do
  local id = sub(ARGV[6], from, from + 7)
  local delayMs, pauseMs = unpackNumbers('<dd', ARGV[6], from + 8)
  local lease = held[id]
  if lease and not lease.landed then
    land(lease, delayMs, pauseMs)
    changed[id] = lease
  end
end

local STATES = { [0] = 'D', [1] = 'F', [2] = 'S' }
-- A bulk skip was never sent: it cannot be done, and there is nothing to retry.
local MAY_END_BULK_SKIP = { [1] = true, [2] = true, [4] = true }
local accepted = {}
for i, one in ipairs(settlements) do
  local lease = held[one.id]
  if lease and lease.bulkSkip and not MAY_END_BULK_SKIP[one.kind] then
    lease = nil
  end
  accepted[i] = lease and '1' or '0'
  if lease then
    held[one.id], changed[one.id] = nil, nil
    ended[#ended + 1] = one.id
    -- Of what ends, only a store that keeps requests needs the record.
    if one.record and (one.kind >= 3 or memory == 'r') then
      lease.value = withRecord(lease.value, one.record)
      if one.kind >= 4 then
        remember(lease.value, 'Q', '')
      end
    end
    if one.kind == 4 then
      giveBack(lease)
    elseif one.kind == 5 then
      -- Its capture waits for a parser, and the lease with it: the row moves, and does not expire there.
      if not lease.landed then
        land(lease, -1, 0)
      end
      hot.leased, hot.parsing = hot.leased - 1, hot.parsing + 1
      hot.parsebytes = hot.parsebytes + one.afterMs
      call('RPUSH', P .. 'fetch:queue', one.id .. pack('<dI2', one.afterMs, #one.reason) .. one.reason
        .. packLease(lease))
    else
      local d = domainOf(lease.key)
      letGo(lease, d)
      lease.value = clear(lease.value)
      if STATES[one.kind] then
        finish(lease.value, STATES[one.kind], one.reason)
      elseif one.afterMs > 0 then
        wait(d, lease.value, one.afterMs, one.toEnd)
      else
        remember(lease.value, 'Q', '')
        if one.toEnd then
          queueLast(d, lease.value)
        else
          queueInFront(d, lease.value)
        end
      end
    end
  end
end
each500('HDEL', P .. 'l:' .. holder, ended)
local landed = {}
for id, lease in pairs(changed) do
  landed[#landed + 1] = id
  landed[#landed + 1] = packLease(lease)
end
each500('HSET', P .. 'l:' .. holder, landed)

for i = 8, #ARGV, 2 do
  local links = linksInNote(ARGV[i])
  local key, count = P .. (links and 'outbox' or 'notes'), 0
  if ARGV[i + 1] == '' then
    count = -call('HDEL', key, ARGV[i])
  else
    count = call('HSET', key, ARGV[i], sub(ARGV[i + 1], 2))
  end
  hot.outbox = hot.outbox + count * (links or 0)
end
flush()
answer = table.concat(accepted)
keepAnswer(answer)
save()
return { callId, hot.now, hot.seq, 1, answer }
