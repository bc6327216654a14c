-- Removes a ledger and all that is its own. ARGV: prefix, ledger, the head that it must have (empty: any), whether leases were judged, and if so
-- the bounds of their names and the marks (name, term, token, renewals) of those that nobody holds: any other that is there stops it.
local place = 0
local function take()
  place = place + 1
  return ARGV[place]
end
local P, name, wanted, judged = take(), take(), take(), take() == '1'
local row = redis.call('HMGET', P .. 'ledger:' .. name, 'head', 'bytes')
if wanted ~= '' and row[1] ~= wanted then return { 'other' } end
local leases = {}
if judged then
  local from, to = take(), take()
  local marks = {}
  while place < #ARGV do
    local one = take()
    marks[one] = table.concat({ take(), take(), take() }, ' ')
  end
  leases = redis.call('ZRANGEBYLEX', P .. 'leases', from, to)
  for _, one in ipairs(leases) do
    local now = redis.call('HMGET', P .. 'lease:' .. one, 'term', 'token', 'renewals')
    if marks[one] ~= table.concat({ now[1] or '', now[2] or '', now[3] or '' }, ' ') then return { 'leases' } end
  end
end

for _, one in ipairs(leases) do
  redis.call('ZREM', P .. 'leases', one)
  redis.call('DEL', P .. 'lease:' .. one)
end
for _, member in ipairs(redis.call('SMEMBERS', P .. 'wakes:' .. name)) do redis.call('ZREM', P .. 'wakes', member) end
redis.call('DEL', P .. 'wakes:' .. name)
if not row[1] then return { 'none' } end
for _, hash in ipairs(redis.call('SMEMBERS', P .. 'named:' .. name)) do
  if redis.call('HINCRBY', P .. 'refs', hash, -1) <= 0 then redis.call('HDEL', P .. 'refs', hash) end
end
redis.call('ZREM', P .. 'names', name)
for _, kind in ipairs({ 'ledger', 'events', 'ids', 'versions', 'named', 'summary', 'snapshots', 'saved' }) do
  redis.call('UNLINK', P .. kind .. ':' .. name)
end
return { 'gone', row[1], row[2] or '0' }
