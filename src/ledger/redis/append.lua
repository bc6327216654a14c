-- Appends a batch, all or nothing: known ids first, then every guard, then the writes. Nothing is written before the last check.
-- ARGV stands in the order in which append.ts puts it; times and numbers are texts.
local place = 0
local function take()
  place = place + 1
  return ARGV[place]
end
local function count() return tonumber(take()) end
local function list(read)
  local all = {}
  for i = 1, count() do all[i] = read() end
  return all
end
local function pair()
  local first = take()
  return { first, take() }
end

local P, STORE = take(), KEYS[1]
local function key(kind, name) return P .. kind .. ':' .. name end
local function text(number) return string.format('%.0f', number) end

local writer = tonumber(take())
local once = take()
local confirms = take() == '1'
local lease, term, token = take(), nil, nil
if lease ~= '' then
  term = take()
  token = take()
end
local looked_up_at = take()

local blobs = list(function()
  local blob = { hash = take() }
  blob.size = take()
  blob.parts = list(take)
  return blob
end)
local wakes = list(function()
  local wake = { member = take() }
  wake.context = take()
  wake.due = take()
  return wake
end)

local ledgers = {}
local function ledger_of(name)
  if not ledgers[name] then
    local row = redis.call('HMGET', key('ledger', name), 'head', 'sum', 'origin', 'updated', 'writer', 'bytes')
    ledgers[name] = {
      name = name,
      exists = row[1] and true or false,
      head = tonumber(row[1] or '0'),
      sum = row[2],
      origin = row[3],
      updated = tonumber(row[4] or '0'),
      writer = tonumber(row[5] or '0'),
      bytes = tonumber(row[6] or '0'),
    }
  end
  return ledgers[name]
end

local writes = list(function()
  local write = { ledger = ledger_of(take()) }
  write.origin = take()
  write.base = take()
  if write.base ~= '' then write.base_sum = take() end
  write.expect = list(pair)
  write.names = list(take)
  write.summary = take()
  if write.summary ~= '' then write.says = list(pair) end
  write.created = take()
  if write.created ~= '' then write.updated = take() end
  write.events = list(function()
    local event = { id = take() }
    event.at = take()
    event.type = take()
    event.v = take()
    event.actor = take()
    event.touches = take()
    event.data = take()
    event.digest = take()
    event.entities = list(take)
    return event
  end)
  return write
end)

-- The order of the fields of an entry: id, at, type, v, actor, touches, data, sum. Values stand at even places.
local ID, AT, TYPE, V, ACTOR, TOUCHES, DATA, SUM = 2, 4, 6, 8, 10, 12, 14, 16
local function entry_at(name, seq)
  local found = redis.call('XRANGE', key('events', name), seq .. '-0', seq .. '-0')[1]
  return found and found[2]
end

-- Known ids.
local answer, fresh, known = { 'old', '0' }, nil, nil
for _, write in ipairs(writes) do
  local name = write.ledger.name
  for _, event in ipairs(write.events) do
    local seq = write.ledger.exists and redis.call('HGET', key('ids', name), event.id)
    if not seq then
      fresh = event.id
    else
      local entry = entry_at(name, seq)
      if not entry then return { 'damaged', name, seq } end
      local same = entry[TYPE] == event.type and entry[V] == event.v and entry[ACTOR] == event.actor
        and entry[TOUCHES] == event.touches and entry[DATA] == event.data
      if not same then return { 'reused', name, event.id } end
      known = known or event.id
      for _, value in ipairs({ seq, entry[AT], entry[SUM] }) do answer[#answer + 1] = value end
    end
  end
end
if known and fresh then return { 'half', known, fresh } end
if known or (once ~= '' and redis.call('EXISTS', key('once', once)) == 1) then
  -- WAIT counts from this connection's last write: an answer about an earlier one needs a write of its own.
  if confirms then redis.call('HINCRBY', STORE, 'confirmed', 1) end
  return answer
end

-- Guards.
for _, write in ipairs(writes) do
  if write.base ~= '' then
    local ledger, seq = write.ledger, tonumber(write.base)
    local there
    if seq == ledger.head then
      there = ledger.sum
    elseif seq == 0 then
      there = ledger.origin
    elseif seq < ledger.head then
      local entry = entry_at(ledger.name, write.base)
      there = entry and entry[SUM]
    end
    if not there or there ~= write.base_sum then
      return { 'rolled_back', ledger.name, write.base, text(ledger.head), there and 'other' or 'none' }
    end
  end
end
if lease ~= '' then
  local row = redis.call('HMGET', key('lease', lease), 'term', 'token', 'holder')
  if row[1] ~= term or row[2] ~= token or row[3] == '' then
    return { 'fenced', row[1] or '', row[2] or '', row[3] or '' }
  end
end
for _, write in ipairs(writes) do
  if write.ledger.writer > writer then return { 'upgrade', write.ledger.name } end
  for _, one in ipairs(write.expect) do
    local actual = redis.call('HGET', key('versions', write.ledger.name), one[1]) or '0'
    if actual ~= one[2] then return { 'conflict', write.ledger.name, one[1], one[2], actual } end
  end
end

-- Blobs: small ones come along, others were put before and may have been swept since.
local missing = {}
for _, blob in ipairs(blobs) do
  if #blob.parts == 0 then
    local parts = redis.call('HGET', key('blob', blob.hash), 'parts')
    if not parts or redis.call('HLEN', key('blob', blob.hash)) ~= tonumber(parts) + 1 then missing[#missing + 1] = blob.hash end
  end
end
if #missing > 0 then return { 'missing', unpack(missing) } end
if looked_up_at ~= '' and looked_up_at ~= (redis.call('HGET', STORE, 'blobs') or '0') then return { 'look again' } end

-- From here on everything is written.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local DAY = 86400000

for _, blob in ipairs(blobs) do
  local at = key('blob', blob.hash)
  if #blob.parts > 0 and redis.call('HEXISTS', P .. 'blobs', blob.hash) == 0 then
    redis.call('HSET', at, 'parts', #blob.parts)
    for i, part in ipairs(blob.parts) do redis.call('HSET', at, i - 1, part) end
  end
  if redis.call('HSETNX', P .. 'blobs', blob.hash, blob.size) == 1 then
    redis.call('PERSIST', at)
    redis.call('HINCRBY', STORE, 'blobs', 1)
  end
end

answer[1] = 'new'
local rung = {}
for _, write in ipairs(writes) do
  local ledger = write.ledger
  local name = ledger.name
  if #write.events > 0 or write.summary ~= '' then
    local at = key('ledger', name)
    if not ledger.exists then
      ledger.exists = true
      ledger.sum = write.origin
      ledger.origin = write.origin
      ledger.updated = now
      redis.call('ZADD', P .. 'names', 0, name)
      redis.call('HSET', at, 'origin', write.origin, 'created', text(now))
    end
    for _, event in ipairs(write.events) do
      ledger.head = ledger.head + 1
      local seq = text(ledger.head)
      local happened = event.at ~= '' and event.at or text(now)
      ledger.sum = redis.sha1hex(ledger.sum .. '|' .. seq .. '|' .. happened .. '|' .. event.digest)
      ledger.bytes = ledger.bytes + #event.data
      redis.call('XADD', key('events', name), seq .. '-0', 'i', event.id, 'a', happened, 'y', event.type, 'v', event.v,
        'r', event.actor, 't', event.touches, 'd', event.data, 's', ledger.sum)
      redis.call('HSET', key('ids', name), event.id, seq)
      for _, entity in ipairs(event.entities) do redis.call('HSET', key('versions', name), entity, seq) end
      for _, value in ipairs({ seq, happened, ledger.sum }) do answer[#answer + 1] = value end
    end
    for _, hash in ipairs(write.names) do
      if redis.call('HEXISTS', P .. 'blobs', hash) == 1 and redis.call('SADD', key('named', name), hash) == 1 then
        redis.call('HINCRBY', P .. 'refs', hash, 1)
      end
    end
    -- Listings are in order of this: it does not go back with the clock, and what changes a listing comes after all the others.
    if write.summary == '' then
      ledger.updated = ledger.updated < now + DAY and math.max(ledger.updated, now) or now
    else
      local latest = tonumber(redis.call('HGET', STORE, 'updated') or '0')
      ledger.updated = latest < now + DAY and math.max(latest + 1, now) or now
      redis.call('HSET', STORE, 'updated', text(ledger.updated))
      local said = key('summary', name)
      -- Keys are fields of their own: the server's JSON would make an empty list an object.
      if write.summary == 'whole' or redis.call('HEXISTS', said, 'whole') == 1 then redis.call('DEL', said) end
      for _, one in ipairs(write.says) do redis.call('HSET', said, one[1], one[2]) end
    end
    if write.created ~= '' then
      ledger.updated = tonumber(write.updated)
      redis.call('HSET', at, 'created', write.created)
    end
    redis.call('HSET', at, 'head', text(ledger.head), 'sum', ledger.sum, 'updated', text(ledger.updated),
      'writer', text(math.max(ledger.writer, writer)), 'bytes', text(ledger.bytes))
    if #write.events > 0 then rung[name] = ledger.head end
  end
end

for _, wake in ipairs(wakes) do
  if wake.due == '' then
    redis.call('ZREM', P .. 'wakes', wake.member)
    redis.call('SREM', key('wakes', wake.context), wake.member)
  else
    redis.call('ZADD', P .. 'wakes', wake.due, wake.member)
    redis.call('SADD', key('wakes', wake.context), wake.member)
  end
end
if once ~= '' then redis.call('SET', key('once', once), '1', 'EX', 600) end

for name, head in pairs(rung) do
  local stroke = text(redis.call('HINCRBY', STORE, 'bell', 1))
  redis.call('XADD', P .. 'bell', 'MAXLEN', '~', 4096, stroke .. '-0', 'l', name, 's', text(head))
  answer[2] = stroke
end
return answer
