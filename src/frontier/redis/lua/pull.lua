#!lua flags=allow-oom
--@include frame values domains seen requests suspects holders calls
-- Gives captures that wait to be parsed to a parser, each with its lease.
--
-- ARGV[1..5]  see the parts frame and calls
-- ARGV[6]     most captures to give
-- ARGV[7]     the opening whose holder this is (openers)
-- Keys:       those of the parts; fetch:queue (list, see settle.lua)
-- Returns     {the call's id, pod time, sequence number, 1 unless the holder was lost, captures still waiting,
--             entries as they were in fetch:queue}
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
  local entries, at = {}, 1
  while at <= #answer do
    local length = unpackNumbers('<I4', answer, at)
    entries[#entries + 1] = sub(answer, at + 4, at + 3 + length)
    at = at + 4 + length
  end
  save()
  return { callId, hot.now, hot.seq, 1, hot.parsing, entries }
end
local most = tonumber(ARGV[6])

-- While there are suspects: those at the head go to a parser that holds nothing, as many as may be tried together;
-- no parser gets anything beside them, nor what waits behind them.
local function mayPull(wanted)
  local held, suspects, ordinary = holds(holder), {}, 0
  if held == 'trial' then
    return 0
  end
  for _, entry in ipairs(call('LRANGE', P .. 'fetch:queue', 0, wanted - 1)) do
    local _, length, start = unpackNumbers('<dI2', entry, 9)
    local value = unpackLease(sub(entry, start + length)).value
    if isSuspect(value) and ordinary == 0 then
      suspects[#suspects + 1] = value
    elseif not isSuspect(value) and #suspects == 0 then
      ordinary = ordinary + 1
    else
      break
    end
  end
  if #suspects == 0 then
    return ordinary
  end
  return held == 'nothing' and trialSize(suspects, wanted) or 0
end

if hot.suspects > 0 and most > 0 then
  most = mayPull(most)
end
local entries = most > 0 and call('LPOP', P .. 'fetch:queue', most) or {}
local rows, kept = {}, {}
for i, entry in ipairs(entries) do
  local bytes, length, start = unpackNumbers('<dI2', entry, 9)
  rows[#rows + 1] = sub(entry, 1, 8)
  rows[#rows + 1] = sub(entry, start + length)
  hot.leased, hot.parsing, hot.parsebytes = hot.leased + 1, hot.parsing - 1, hot.parsebytes - bytes
  kept[i] = pack('<I4', #entry) .. entry
end
if #rows > 0 then
  enrol(holder, ARGV[7])
  each500('HSET', P .. 'l:' .. holder, rows)
end
keepAnswer(table.concat(kept))
save()
return { callId, hot.now, hot.seq, 1, hot.parsing, entries }
