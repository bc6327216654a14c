-- The event with that id. ARGV: prefix, ledger, id.
local seq = redis.call('HGET', ARGV[1] .. 'ids:' .. ARGV[2], ARGV[3])
if not seq then return false end
local found = redis.call('XRANGE', ARGV[1] .. 'events:' .. ARGV[2], seq .. '-0', seq .. '-0')[1]
return found or { seq .. '-0', {} }
