-- Part: a call that is repeated with its number gets its first answer and changes nothing.
-- ARGV[3]  holder   ARGV[4]  number of the call   ARGV[5]  number of the part, where a call is made in parts
-- Keys:    a:HOLDER (hash, slot -> number and answer; `last` -> highest number); expires a day after one of the last calls
local holder, number, part = ARGV[3], tonumber(ARGV[4]), ARGV[5]
local ANSWERS_EXPIRE_SECS, NINE = 86400, 57

local last

-- The first answer; or nil, and whether the number is too old to tell. Before keepAnswer().
local function firstAnswer()
  local kept = call('HMGET', P .. 'a:' .. holder, number % answersKept .. ':' .. part, 'last')
  if kept[1] and unpackNumbers('<d', kept[1]) == number then
    return sub(kept[1], 9)
  end
  last = tonumber(kept[2])
  return nil, number <= (last or -1) - answersKept
end

local function keepAnswer(answer)
  local key = P .. 'a:' .. holder
  local isTurn = number % answersKept == 0
  -- Calls in very many parts leave slots behind that are never read again.
  if (isTurn or byte(part, -1) == NINE) and call('HLEN', key) > 64 * answersKept then
    call('DEL', key)
    last = nil
  end
  local slot = number % answersKept .. ':' .. part
  call('HSET', key, slot, pack('<d', number) .. answer, 'last', max(last or 0, number))
  if isTurn or not last then
    call('EXPIRE', key, ANSWERS_EXPIRE_SECS)
  end
end
