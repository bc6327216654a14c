-- What a process asks first: the form of what is stored here, how often the bell has rung, which store it is, and whether a restore
-- into it has not ended. A store that is new gets our form and an identity, unless it is only looked at.
-- ARGV: prefix, our form, whether it may be written, a new identity, the ledger that marks a restore.
local row = redis.call('HMGET', KEYS[1], 'form', 'bell', 'identity')
-- Written only where it is missing: a server that is full can still be read.
if ARGV[3] == '1' and not (row[1] and row[3]) then
  redis.call('HSETNX', KEYS[1], 'form', ARGV[2])
  redis.call('HSETNX', KEYS[1], 'identity', ARGV[4])
  row = redis.call('HMGET', KEYS[1], 'form', 'bell', 'identity')
end
return { row[1] or ARGV[2], row[2] or '0', row[3] or '', redis.call('EXISTS', ARGV[1] .. 'ledger:' .. ARGV[5]) }
