-- Keeps folded states of a ledger that has come so far. ARGV: prefix, ledger, seq, the sum that stands there (empty: not known), versions to
-- keep, then of each its key and bytes.
local P, name = ARGV[1], ARGV[2]
local head = redis.call('HGET', P .. 'ledger:' .. name, 'head')
if not head or tonumber(head) < tonumber(ARGV[3]) then return 'behind' end
if ARGV[4] ~= '' then
  local entry = redis.call('XRANGE', P .. 'events:' .. name, ARGV[3] .. '-0', ARGV[3] .. '-0')[1]
  if not entry or entry[2][16] ~= ARGV[4] then return 'other' end
end
local kept, saved = P .. 'snapshots:' .. name, P .. 'saved:' .. name
for i = 6, #ARGV, 2 do
  redis.call('HSET', kept, ARGV[i], ARGV[i + 1])
  redis.call('ZADD', saved, redis.call('HINCRBY', KEYS[1], 'saved', 1), ARGV[i])
end
local versions = {}
for _, one in ipairs(redis.call('ZREVRANGE', saved, 0, -1)) do
  local fold = string.match(one, '^(.-)@') or one
  versions[fold] = (versions[fold] or 0) + 1
  if versions[fold] > tonumber(ARGV[5]) then
    redis.call('ZREM', saved, one)
    redis.call('HDEL', kept, one)
  end
end
return 'saved'
