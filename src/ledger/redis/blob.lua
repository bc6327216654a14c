-- How many parts a blob has, and the first of them. ARGV: prefix, hash, most. What no append has taken is nobody's: false.
if redis.call('HEXISTS', ARGV[1] .. 'blobs', ARGV[2]) == 0 then return false end
local at = ARGV[1] .. 'blob:' .. ARGV[2]
local parts = tonumber(redis.call('HGET', at, 'parts') or '0')
local answer = { parts }
for i = 1, math.min(parts, tonumber(ARGV[3])) do answer[i + 1] = redis.call('HGET', at, i - 1) end
return answer
