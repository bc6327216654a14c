-- Puts one part of a blob that is too large to come along with its append. It is nobody's until an append takes it, and goes by itself after
-- an hour. ARGV: prefix, hash, how many parts there are, which one this is, its bytes.
local at = ARGV[1] .. 'blob:' .. ARGV[2]
if redis.call('HEXISTS', ARGV[1] .. 'blobs', ARGV[2]) == 1 then return 'there' end
redis.call('HSET', at, 'parts', ARGV[3], ARGV[4], ARGV[5])
redis.call('EXPIRE', at, 3600)
return 'put'
