-- Part: a queued request as bytes. flags: priority + 2 in three bits, 8 its fingerprint follows, 16 its count of lost
-- leases follows, 32 its trial number follows (part-suspects.lua). Then its number in order of acceptance, those three
-- if flagged, and the opaque record.
-- Promise: whatever rewrites a request keeps its number, priority and fingerprint.
local function unpackValue(value)
  local flags, at, fingerprint, lost, trial = byte(value, 1), 6, '', 0, 0
  if flags % 16 >= 8 then
    fingerprint = sub(value, 6, 13)
    at = 14
  end
  if flags % 32 >= 16 then
    lost = byte(value, at)
    at = at + 1
  end
  if flags >= 32 then
    trial = byte(value, at)
    at = at + 1
  end
  return flags % 8 - 2, fingerprint, lost, sub(value, at), trial
end

local function packValue(priority, number, fingerprint, lost, record, trial)
  local flags = priority + 2 + (fingerprint ~= '' and 8 or 0) + (lost > 0 and 16 or 0) + (trial > 0 and 32 or 0)
  return char(flags) .. pack('>I4', number) .. fingerprint .. (lost > 0 and char(lost) or '')
    .. (trial > 0 and char(trial) or '') .. record
end

local function isSuspect(value)
  return byte(value, 1) >= 32
end

local function numberOf(value)
  return (unpackNumbers('>I4', value, 2))
end

local function withRecord(value, record)
  local priority, fingerprint, lost, _, trial = unpackValue(value)
  return packValue(priority, numberOf(value), fingerprint, lost, record, trial)
end

local function withNumber(value, number)
  return sub(value, 1, 1) .. pack('>I4', number) .. sub(value, 6)
end

-- A place orders requests beside the line: higher priority first, then those put in front, then age.
local PER_PRIORITY, MIDDLE = 2 ^ 45, 2 ^ 44
local FIRST_BEHIND = 3 * PER_PRIORITY
-- Suspects are served before everything else of their domain: their places lie below all others.
local FIRST_ORDINARY = 2 ^ 43
local BELOW_ORDINARY = '(' .. string.format('%.0f', FIRST_ORDINARY)

local function placeOf(priority, order)
  return (2 - priority) * PER_PRIORITY + MIDDLE + order
end

-- Numbers have 32 bits: after four billion requests order starts anew, nothing else.
local function nextNumber()
  hot.number = (hot.number + 1) % 4294967296
  return hot.number
end
