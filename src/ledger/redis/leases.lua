-- The leases whose name begins so. ARGV: prefix, beginning, end (as ZRANGEBYLEX takes them).
local page = {}
for i, name in ipairs(redis.call('ZRANGEBYLEX', ARGV[1] .. 'leases', ARGV[2], ARGV[3])) do
  page[i] = { name, redis.call('HGETALL', ARGV[1] .. 'lease:' .. name) }
end
return page
