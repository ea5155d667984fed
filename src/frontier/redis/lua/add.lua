#!lua
--@include frame values domains seen requests suspects holders calls
-- Marks requests seen and queues the new ones: all of one call, or nothing. Not allowed when the server is full.
--
-- ARGV[1..5]  see the parts frame and calls
-- ARGV[6]     ids of leases that the requests were found in, 8 bytes each; '' for requests that no visit found; or 'again'
--             and notes (length of name, name, length of text, text, …): the requests have failed, are queued again
--             without another claim, and the notes become true
-- ARGV[7]     entries, packed: index of its lease or 0, lower half of the fingerprint, lengths of the next two,
--             what claim() takes, then flags of the value and 128 if in front, index of its domain, rest of the value
-- ARGV[8..]   the domains' keys
-- Keys:       those of the parts; u:BUCKET (hash, domain -> requests accepted), where domains have a budget
-- Returns     {the call's id, pod time, sequence number, 1 unless the holder was lost, a letter per entry: n, p, e as
--             claim() tells, b when its domain's budget is used up, or - when its lease is not the holder's, or a bulk
--             skip}
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
  return { callId, hot.now, hot.seq, 1, answer }
end
local isAgain = sub(ARGV[6], 1, 5) == 'again'
if not isHeld and ARGV[6] ~= '' and not isAgain then
  save()
  return { callId, hot.now, hot.seq, 0, '' }
end

-- The keeper is behind: nothing more is taken in until it has caught up.
if domainHead > 0 and hot.overflow >= overflowLimit then
  save()
  return redis.error_reply('OVERFLOW')
end

local isOwned = { [0] = true }
local leases = {}
for at = 1, isAgain and 0 or #ARGV[6], 8 do
  leases[#leases + 1] = sub(ARGV[6], at, at + 7)
end
for from = 1, #leases, 500 do
  for i, row in ipairs(call('HMGET', P .. 'l:' .. holder, unpack(leases, from, min(from + 499, #leases)))) do
    isOwned[from + i - 1] = row and not isBulkSkip(row)
  end
end

-- What only joins a line waits here, by domain; `touched` are all domains in the order they came.
local tails, touched, isTouched = {}, {}, {}

local function joinQuickly(key)
  local tail = tails[key]
  tails[key] = nil
  if domainHead > 0 and hot.far > 0 and call('SISMEMBER', P .. 'long', key) == 1 then
    return tail
  end
  local pushed, length = #tail, 0
  for from = 1, pushed, 500 do
    length = call('RPUSH', P .. 'q:' .. key, unpack(tail, from, min(from + 499, pushed)))
  end
  local over = domainHead > 0 and min(pushed, max(0, length - domainHead)) or 0
  if over > 0 then
    call('RPOP', P .. 'q:' .. key, over)
  end
  hot.queued = hot.queued + pushed - over
  if length == pushed then
    -- Its line was empty: unless something else of it was queued, its wait begins now.
    local d = domainOf(key, length - over)
    if d.places + d.far == 0 then
      d.ready = hot.now
    end
    mark(d)
  end
  return over > 0 and { unpack(tail, pushed - over + 1) } or nil
end

-- The domain itself, with what waits to join its line.
local function domainWithTail(key)
  local rest = tails[key] and joinQuickly(key)
  local d = domainOf(key)
  for _, value in ipairs(rest or {}) do
    joinLine(d, value)
  end
  return d
end

-- Requests accepted of each domain so far. What goes in front is on a visit's way (a redirect, a moved robots.txt): it
-- uses no budget.
local used = {}

local function isWithinBudget(key)
  local count = used[key] or tonumber(call('HGET', P .. 'u:' .. sub(key, 1, 2), sub(key, 3)) or 0)
  used[key] = min(count + 1, domainBudget)
  if count >= domainBudget then
    hot.dropped = hot.dropped + 1
  end
  return count < domainBudget
end

local entries, at, count, found = ARGV[7], 1, 0, {}
local size = #entries
while at <= size do
  -- Most links are known: of those nothing more is read.
  local lease, lo, entryBytes, restBytes, start = unpackNumbers('<I2I4BI4', entries, at)
  local rest = start + entryBytes
  at = rest + restBytes
  local presence = isAgain and 'n' or isOwned[lease] and claim(lo, sub(entries, start, rest - 1)) or '-'
  count = count + 1
  local flags, domain, key, isFront
  if presence == 'n' then
    flags, domain = unpackNumbers('<BI2', entries, rest)
    key, isFront = ARGV[8 + domain], flags >= 128
    if domainBudget > 0 and not isAgain and not isFront and not isWithinBudget(key) then
      presence = 'b'
    end
  end
  found[count] = presence
  if presence == 'n' then
    local priority = flags % 8 - 2
    if not isTouched[key] then
      isTouched[key] = true
      touched[#touched + 1] = key
    end
    local value = pack('>BI4c0', flags % 128, nextNumber(), sub(entries, rest + 3, at - 1))
    if isAgain then
      hot.failed = hot.failed - 1
    else
      hot.accepted = hot.accepted + 1
    end
    if memory == 'r' then
      remember(value, 'Q', '')
    end
    if isFront then
      queueInFront(domainWithTail(key), value)
    elseif priority ~= 0 then
      takePlace(domainWithTail(key), value, placeOf(priority, hot.number), true)
    elseif domains[key] then
      joinLine(domains[key], value)
    else
      local tail = tails[key]
      if tail then
        tail[#tail + 1] = value
      else
        tails[key] = { value }
      end
    end
  end
end
-- Domains become due in the order in which they came.
local inOrder = {}
for _, key in ipairs(touched) do
  local rest = tails[key] and joinQuickly(key)
  for _, value in ipairs(rest or {}) do
    joinLine(domainOf(key), value)
  end
  local d = domains[key]
  if d and d.marked then
    inOrder[#inOrder + 1] = d
  end
end
marked = inOrder
flush()
if isAgain then
  if hot.failed < 0 then
    error('CORRUPT counters: more requests are queued again than have failed')
  end
  local note = 6
  while note <= #ARGV[6] do
    local nameBytes, start = unpackNumbers('<I4', ARGV[6], note)
    local textBytes, text = unpackNumbers('<I4', ARGV[6], start + nameBytes)
    call('HSET', P .. 'notes', sub(ARGV[6], start, start + nameBytes - 1), sub(ARGV[6], text, text + textBytes - 1))
    note = text + textBytes
  end
else
  hot.offered = hot.offered + count
end
for key, accepted in pairs(used) do
  call('HSET', P .. 'u:' .. sub(key, 1, 2), sub(key, 3), accepted)
end
answer = table.concat(found)
keepAnswer(answer)
save()
return { callId, hot.now, hot.seq, 1, answer }
