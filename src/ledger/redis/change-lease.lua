-- Puts a lease's new row in the place of the one that was judged. ARGV: prefix, name, of the judged row term, token and renewals
-- (empty: there was none), of the new one term, token, renewals, holder (empty: released), expiry and length, and whether replicas are asked.
local P, name = ARGV[1], ARGV[2]
local at = P .. 'lease:' .. name
local row = redis.call('HMGET', at, 'term', 'token', 'renewals', 'holder')
local function is(term, token, renewals)
  return (row[1] or '') == term and (row[2] or '') == token and (row[3] or '') == renewals
end
if is(ARGV[6], ARGV[7], ARGV[8]) and row[4] == ARGV[9] then
  -- Asked again because the answer was lost. WAIT needs a write of its own.
  if ARGV[12] == '1' then redis.call('HINCRBY', KEYS[1], 'confirmed', 1) end
  return 'changed'
end
if not is(ARGV[3], ARGV[4], ARGV[5]) then return 'other' end
redis.call('HSET', at, 'term', ARGV[6], 'token', ARGV[7], 'renewals', ARGV[8], 'holder', ARGV[9], 'expires', ARGV[10],
  'lasts', ARGV[11])
redis.call('ZADD', P .. 'leases', 0, name)
return 'changed'
