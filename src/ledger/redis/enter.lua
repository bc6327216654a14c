-- What a process asks first: the form of what is stored here, and how often the bell has rung. A store that is new gets our form, unless it
-- is only looked at. ARGV: prefix, our form, whether it may be written.
if ARGV[3] == '1' then redis.call('HSETNX', KEYS[1], 'form', ARGV[2]) end
local row = redis.call('HMGET', KEYS[1], 'form', 'bell')
return { row[1] or ARGV[2], row[2] or '0' }
