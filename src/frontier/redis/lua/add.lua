#!lua
--@include frame values domains seen requests holders calls
-- Marks requests seen and queues the new ones: all of one call, or nothing. Not allowed when the server is full.
--
-- ARGV[1..5]  see the parts frame and calls
-- ARGV[6]     ids of leases that the requests were found in, 8 bytes each; '' for requests of nobody's visit
-- ARGV[7]     entries, packed: fingerprint (hi, lo), flags of the value, 1 if in front, index of its domain,
--             index of its lease or 0, length of the rest, rest of the value
-- ARGV[8..]   the domains' keys
-- Keys:       those of the parts
-- Returns     {pod time, sequence number, 1 unless the holder was lost, one letter an entry: n, p, e as claim() tells,
--             or - when its lease is not the holder's, or a rider}
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
if answer then
  save()
  return { hot.now, hot.seq, 1, answer }
end
if not isHeld and ARGV[6] ~= '' then
  save()
  return { hot.now, hot.seq, 0, '' }
end

local isOwned = { [0] = true }
for at = 1, #ARGV[6], 8 do
  local id = string.format('%.0f', (struct.unpack('<d', ARGV[6], at)))
  local row = call('HGET', P .. 'l:' .. holder, id)
  isOwned[(at + 7) / 8] = row and not unpackLease(row).rider
end

local entries, at, found = ARGV[7], 1, {}
while at <= #entries do
  local hi, lo, flags, front, domain, lease, length, start = struct.unpack('<I4I4BBI2I2I4', entries, at)
  local fingerprint, rest = struct.pack('>I4I4', hi, lo), sub(entries, start, start + length - 1)
  at = start + length
  local presence = isOwned[lease] and claim(hi, lo, fingerprint) or '-'
  found[#found + 1] = presence
  if presence == 'n' then
    local d, priority = domainOf(ARGV[8 + domain]), flags % 8 - 2
    local value = char(flags) .. struct.pack('>I4', nextNumber()) .. rest
    hot.accepted = hot.accepted + 1
    if memory == 'r' then
      local _, _, _, record = unpackValue(value)
      remember(fingerprint, 'Q', priority, '', record)
    end
    if front == 1 then
      queueInFront(d, value)
    elseif priority == 0 then
      joinLine(d, value)
    else
      takePlace(d, value, placeOf(priority, hot.number), true)
    end
  end
end
flush()
answer = table.concat(found)
keepAnswer(answer)
save()
return { hot.now, hot.seq, 1, answer }
