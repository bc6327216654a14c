-- A page of a ledger's events, with what they are chained to and where the ledger ends, as of one moment.
-- ARGV: prefix, ledger, after, up to (`+`: its end), most. Answers false where there is no such ledger.
local P, name, after, up_to, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local row = redis.call('HMGET', P .. 'ledger:' .. name, 'head', 'origin', 'sum')
if not row[1] then return false end
local events = P .. 'events:' .. name
local previous = row[2]
if after > 0 then
  local found = redis.call('XRANGE', events, after .. '-0', after .. '-0')[1]
  previous = found and found[2][16] or ''
end
local page = redis.call('XRANGE', events, (after + 1) .. '-0', up_to == '+' and up_to or up_to .. '-0', 'COUNT', most)
return { row[1], row[2], row[3], previous, page }
