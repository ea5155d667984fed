-- Part: which requests were ever accepted. `memory` says how (fixed when the store is made):
--   e  exactly, 64-bit fingerprints in integer sets; A: average entries of a bucket
--   b  in a Bloom filter; A: slices, B: bits of a slice, C: bits set a request
--   r  exactly, with state and record of each request, to be found
-- Promise: claim() tells a fingerprint new at most once, and with e and r exactly once.
--
-- Keys: s:BUCKET (set)  b:SLICE (string)  r (hash, fingerprint -> state, priority, length of reason, reason, record)
local FIRST_BUCKETS = 2048

-- Linear hashing: buckets split one after the other as the set grows, each long before it could outgrow the packed
-- form. The bucket holds the lowest bits of a fingerprint, its entries the 53 others: exact in a Lua number.
local function splitBucket()
  local level = FIRST_BUCKETS
  while level * 2 <= hot.buckets do
    level = level * 2
  end
  local old, step = P .. 's:' .. pack('<I4', hot.buckets - level), level / FIRST_BUCKETS
  local staying, moving = {}, {}
  for _, entry in ipairs(call('SMEMBERS', old)) do
    local list = floor(tonumber(entry) / step) % 2 == 1 and moving or staying
    list[#list + 1] = entry
  end
  call('DEL', old)
  each500('SADD', old, staying)
  each500('SADD', P .. 's:' .. pack('<I4', hot.buckets), moving)
  hot.buckets = hot.buckets + 1
end

local levelOf, levelBuckets = 0, -1

local BUCKET = P .. 's:'

local function bucketOf(lo)
  if levelBuckets ~= hot.buckets then
    hot.buckets = max(hot.buckets, FIRST_BUCKETS)
    levelOf, levelBuckets = FIRST_BUCKETS, hot.buckets
    while levelOf * 2 <= levelBuckets do
      levelOf = levelOf * 2
    end
  end
  local bucket = lo % (levelOf * 2)
  if bucket >= levelBuckets then
    bucket = lo % levelOf
  end
  -- In one step: a string that is made only to be joined costs a tenth of the whole claim.
  return pack('<c0I4', BUCKET, bucket)
end

-- `entry`: the 53 higher bits in decimal, which the caller has at hand; making it here costs as much as the SADD.
local function claimExactly(lo, entry)
  if call('SADD', bucketOf(lo), entry) == 0 then
    return false
  end
  hot.seen = hot.seen + 1
  if hot.seen > hot.buckets * memoryA then
    splitBucket()
  end
  return true
end

-- One slice a fingerprint; a slice is made whole at its first use, since growing strings are over-allocated.
local slices = {}

-- Whether any of the fingerprint's bits is missing; with SET they are set.
local function isMissing(operation, hi, lo)
  local slice = hi % memoryA
  local key = P .. 'b:' .. slice
  if operation == 'SET' and not slices[slice] then
    if call('EXISTS', key) == 0 then
      call('SETBIT', key, memoryB - 1, 0)
    end
    slices[slice] = true
  end
  local at, step, bits = lo % memoryB, floor(hi / memoryA) % memoryB, {}
  for i = 1, memoryC do
    bits[#bits + 1] = operation
    bits[#bits + 1] = 'u1'
    bits[#bits + 1] = at
    if operation == 'SET' then
      bits[#bits + 1] = 1
    end
    at = (at + step) % memoryB
    step = (step + i) % memoryB
  end
  for _, bit in ipairs(call('BITFIELD', key, unpack(bits))) do
    if bit == 0 then
      return true
    end
  end
  return false
end

local function claimInBloom(hi, lo)
  local isNew = isMissing('SET', hi, lo)
  hot.seen = hot.seen + (isNew and 1 or 0)
  return isNew
end

-- Whether a fingerprint was claimed, in a store that keeps nothing else of it.
local function isKnown(hi, lo)
  if memory == 'b' then
    return not isMissing('GET', hi, lo)
  end
  return call('SISMEMBER', bucketOf(lo), hi * 2097152 + floor(lo / FIRST_BUCKETS)) == 1
end

local function remember(value, state, reason)
  if memory == 'r' then
    local priority, fingerprint, _, record = unpackValue(value)
    call('HSET', P .. 'r', fingerprint, state .. char(priority + 2) .. pack('<I2', #reason) .. reason .. record)
  end
end

-- n: new, and claimed now; p: known, as far as this store can tell not ended; e: ended.
-- `entry`: with memory e see claimExactly(), with b and r the fingerprint's bytes, big-endian.
local function claim(lo, entry)
  if memory == 'e' then
    return claimExactly(lo, entry) and 'n' or 'p'
  elseif memory == 'b' then
    return claimInBloom((unpackNumbers('>I4', entry)), lo) and 'n' or 'p'
  end
  local known = call('HGET', P .. 'r', entry)
  if not known then
    hot.seen = hot.seen + 1
    return 'n'
  end
  local state = sub(known, 1, 1)
  return (state == 'Q' or state == 'R') and 'p' or 'e'
end
