-- A page of ledgers with their summaries, by name. ARGV: prefix, where it begins (as ZRANGEBYLEX takes it), most.
local P = ARGV[1]
local page = {}
for i, name in ipairs(redis.call('ZRANGEBYLEX', P .. 'names', ARGV[2], '+', 'LIMIT', 0, ARGV[3])) do
  local row = redis.call('HMGET', P .. 'ledger:' .. name, 'head', 'created', 'updated')
  page[i] = { name, row[1] or '0', row[2] or '0', row[3] or '0', redis.call('HGETALL', P .. 'summary:' .. name) }
end
return page
