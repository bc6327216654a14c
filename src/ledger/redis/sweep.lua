-- Removes those of these blobs that no ledger names. ARGV: prefix, hashes. Answers how many, and what they took.
local P, swept, bytes = ARGV[1], 0, 0
for i = 2, #ARGV do
  local size = redis.call('HGET', P .. 'blobs', ARGV[i])
  if size and redis.call('HEXISTS', P .. 'refs', ARGV[i]) == 0 then
    redis.call('HDEL', P .. 'blobs', ARGV[i])
    redis.call('UNLINK', P .. 'blob:' .. ARGV[i])
    swept = swept + 1
    bytes = bytes + tonumber(size)
  end
end
return { swept, string.format('%.0f', bytes) }
