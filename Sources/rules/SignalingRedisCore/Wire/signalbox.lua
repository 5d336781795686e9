#!lua name=signalbox_1

-- Keys:
--   sb:nodes               HASH    <run> -> a and the number of its link while it may live, then the time of its loss
--                                  @redis -> the Redis process that the nodes have agreed on
--                                  @until -> the end of the time in which only `restore` is accepted
--                                  @since -> its beginning, which names it
--                                  @offset -> how far the log's clock is ahead of Redis'
--                                  @list -> the fingerprint of the nodes' list of addresses
--   sb:node:<run>          STRING  a mark of life, which expires
--   sb:node:<run>:sessions SET     the sessions that the run hosts
--   sb:{S}:log             STREAM  id <n>-0; at, id, cmd
--   sb:{S}:snap            STRING  the newest snapshot
--   sb:{S}:meta            HASH    g: generation, a random name of this order of commands
--                                  n, id, at: of the last command
--                                  v: the Redis process under which the session was last written or vouched for
--                                  s, si: number and id of the snapshot's last command
--                                  tn, ta: a number to trim to, once its time is old enough
--                                  c:<run>: the counter of the run's last command
--                                  z: there if the session sleeps; its keys then live as long as its history and its
--                                  restrictions may
--                                  u: then also when its restrictions have ended, in seconds since 1970
--   sb:{S}:history         ZSET    the messages of its history, by seq
--   sb:{S}:kept            HASH    last, trimmed: seqs, and bytes and project: of the history
--   sb:histories           ZSET    <project> -> about what the histories of its sessions take
--   sb:histories:<project> ZSET    <session> -> about what its history takes. Redis forgets a history by itself; its row
--                                  here goes when it is found
--   sb:feed:<project>      STREAM  the entries of the project's feed, of the sessions of this Redis; session, entry
--   sb:feed-state:<project> HASH   start, gone, last: positions in this feed, and cursor: how far its receiver has got
--   sb:feed-claim:<project> STRING the node that posts the feed, which expires; in the first Redis
--   sb:sleepers            ZSET    the sessions that sleep, by their names. Redis forgets a session by itself; its name here
--                                  goes when it is found
--   sb:revoked             HASH    <project> -> how often its revocations were changed
--   sb:revoked:<project>   HASH    the subject of a revocation -> its number, of which the greatest counts
--   sb:gone:<generation>   STRING  this generation was removed, and is not restored
-- Times are in microseconds. They exceed what Lua prints as an integer by itself.

local NODES, SLEEPERS = 'sb:nodes', 'sb:sleepers'
-- Seconds after which Redis forgets a session that no node hosts.
local SESSION_LIFE = 86400
-- Microseconds after which a loss is forgotten.
local LOSS_LIFE = 7 * 86400 * 1000000

-- They live as long as this Redis process, or until the library is loaded again.
local run_id, offset, restoring_until, restoring_since, restoring_window
local last_time = 0

local function integer(value) return string.format('%.0f', value) end

-- The name of the Redis process. A provider may hide it: then one is drawn, which lasts as long as these variables, so
-- each restart and each replica that takes over has another one.
local function redis_run()
    if not run_id then run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') end
    if not run_id then
        local time = redis.call('TIME')
        run_id = integer(time[1] * 1000000 + time[2])
    end
    return run_id
end

-- Never runs backwards: a backward step of Redis' clock counts as zero, and time goes on from there.
local function clock(floor)
    local time = redis.call('TIME')
    if not offset then offset = tonumber(redis.call('HGET', NODES, '@offset') or 0) end
    local now = time[1] * 1000000 + time[2] + offset
    local least = math.max(last_time, floor or 0)
    if now < least then
        offset = offset + (least - now)
        redis.call('HSET', NODES, '@offset', integer(offset))
        now = least
    end
    last_time = now
    return now
end

local function restoring_end()
    if not restoring_until then
        restoring_until = tonumber(redis.call('HGET', NODES, '@until') or 0)
    end
    return restoring_until
end

-- Gives the nodes that have more to say of their sessions more time for it.
local function prolong_restoring(now)
    if not restoring_since or now >= restoring_until then return end
    local wanted = math.min(now + restoring_window / 2, restoring_since + 5 * restoring_window)
    if wanted <= restoring_until then return end
    restoring_until = wanted
    redis.call('HSET', NODES, '@until', integer(restoring_until))
end

-- The clock in `restore`. A Redis that has forgotten how far the log's clock is ahead learns it from the first
-- session that is restored: the jump takes nothing off the time for the others.
local function restoring_clock(floor)
    local before = clock()
    if floor <= before then return before end
    local now = clock(floor)
    if before < restoring_end() then
        restoring_until = restoring_until + (now - before)
        if restoring_since then restoring_since = restoring_since + (now - before) end
        redis.call('HSET', NODES, '@until', integer(restoring_until))
    end
    return now
end

local function is_alive(value) return string.sub(value, 1, 1) == 'a' end

-- Why a run may not write now; nil if it may. Calls that a broken link has left behind are refused: their
-- sender has continued without their replies.
local function refusal(run, link, now, is_restoring)
    local fields = redis.call('HMGET', NODES, '@redis', run)
    if fields[1] ~= redis_run() or not fields[2] then return 'unknown' end
    if not is_alive(fields[2]) then return 'lost' end
    if fields[2] ~= 'a' .. link then return 'unknown' end
    if not is_restoring and now < restoring_end() then return 'restoring' end
end

local function publish(base, db, message)
    redis.call('PUBLISH', 'sb:' .. db .. string.sub(base, 3), message)
end

local function discard(base, db, generation)
    redis.call('DEL', base .. ':meta', base .. ':log', base .. ':snap')
    redis.call('SET', 'sb:gone:' .. generation, '1', 'EX', 3600)
    publish(base, db, 'x ' .. generation)
end

-- The session of sb:{S}.
local function name_in(base) return string.sub(base, 5, -2) end

local function host(run, base) redis.call('SADD', 'sb:node:' .. run .. ':sessions', name_in(base)) end

local function keep_alive(base)
    redis.call('EXPIRE', base .. ':meta', SESSION_LIFE)
    redis.call('EXPIRE', base .. ':log', SESSION_LIFE)
    redis.call('EXPIRE', base .. ':snap', SESSION_LIFE)
end

-- db, run, link, window, life in ms, fingerprint, floor of the clock, then pairs of lost runs and times
local function hello(keys, args)
    local db, run, link, fingerprint = args[1], args[2], args[3], args[6]
    local now = clock(tonumber(args[7]))
    local flat = redis.call('HGETALL', NODES)
    local nodes = {}
    for i = 1, #flat, 2 do nodes[flat[i]] = flat[i + 1] end
    if nodes['@list'] and nodes['@list'] ~= fingerprint then
        for other, value in pairs(nodes) do
            if is_alive(value) and other ~= run and redis.call('EXISTS', 'sb:node:' .. other) == 1 then
                return { 'list' }
            end
        end
    end
    redis.call('HSET', NODES, '@list', fingerprint)
    if nodes['@redis'] ~= redis_run() then
        restoring_since, restoring_window = now, tonumber(args[4])
        restoring_until = now + restoring_window
        redis.call('HSET', NODES, '@redis', redis_run(), '@until', integer(restoring_until), '@since', integer(now))
    end
    for i = 8, #args, 2 do
        if is_alive(nodes[args[i]] or 'a') then redis.call('HSET', NODES, args[i], args[i + 1]) end
    end
    local mine = redis.call('HGET', NODES, run) or 'a0'
    if is_alive(mine) then
        if tonumber(string.sub(mine, 2)) > tonumber(link) then return { 'unknown' } end
        mine = 'a' .. link
        redis.call('HSET', NODES, run, mine)
        redis.call('SET', 'sb:node:' .. run, '1', 'PX', args[5])
    end
    flat = redis.call('HGETALL', NODES)
    local list = {}
    for i = 1, #flat, 2 do
        local other, value = flat[i], flat[i + 1]
        if string.sub(other, 1, 1) ~= '@' then
            if not is_alive(value) and now - tonumber(value) > LOSS_LIFE then
                redis.call('HDEL', NODES, other)
            else
                list[#list + 1] = other
                list[#list + 1] = value
                list[#list + 1] = redis.call('EXISTS', 'sb:node:' .. other)
                list[#list + 1] = redis.call('EXISTS', 'sb:node:' .. other .. ':sessions')
            end
        end
    end
    -- Shows the sender that its subscription is alive.
    redis.call('PUBLISH', 'sb:' .. db .. ':nodes', 'alive ' .. run)
    local since = redis.call('HGET', NODES, '@since')
    return { 'ok', integer(now), integer(math.max(0, restoring_end() - now)), mine, list, since }
end

-- db, run, link, generation that the sender knows, generation to create, first counter, commands
local function append(keys, args)
    local base, db, run, generation, counter = keys[1], args[1], args[2], args[4], tonumber(args[6])
    local meta, log, own = base .. ':meta', base .. ':log', 'c:' .. run
    local stored = redis.call('HMGET', meta, 'g', 'n', 'at', 'v', own, 'z')
    local now = clock(stored[3] and tonumber(stored[3]))
    local reason = refusal(run, args[3], now)
    if reason then return { reason } end
    if generation ~= '' and stored[1] ~= generation then return { 'gone' } end
    local n, last = 0, 0
    if stored[1] then
        if stored[4] ~= redis_run() then return { 'unvouched' } end
        generation, n, last = stored[1], tonumber(stored[2]), tonumber(stored[5] or 0)
    else
        generation = args[5]
        redis.call('DEL', log, base .. ':snap')
    end
    local count = #args - 6
    if counter > last + 1 then return { 'gap', integer(last) } end
    local repeated = last + 1 - counter
    if repeated >= count then return { 'repeated', generation, integer(n) } end
    local at, first, first_counter = integer(now), n + 1, last + 1
    local message = { 'e', generation, integer(first), run, integer(first_counter), at }
    local commands = {}
    for i = 7 + repeated, #args do
        n, last = n + 1, last + 1
        local id = run .. ':' .. integer(last)
        local added = redis.pcall('XADD', log, integer(n) .. '-0', 'at', at, 'id', id, 'cmd', args[i])
        if type(added) == 'table' and added.err then
            -- The keys contradict each other: somebody else has changed them.
            discard(base, db, generation)
            return { 'gone' }
        end
        message[#message + 1] = #args[i]
        commands[#commands + 1] = args[i]
    end
    if not stored[1] then redis.call('HSET', meta, 'g', generation, 'v', redis_run()) end
    local last_text = integer(last)
    redis.call('HSET', meta, 'n', integer(n), 'at', at, 'id', run .. ':' .. last_text, own, last_text)
    if stored[6] then
        redis.call('HDEL', meta, 'z', 'u')
        redis.call('ZREM', SLEEPERS, name_in(base))
    end
    if first == 1 or stored[6] or n % 64 < n - first + 1 then keep_alive(base) end
    publish(base, db, table.concat(message, ' ') .. '\n' .. table.concat(commands))
    return { 'ok', generation, integer(first), integer(first_counter), n - first + 1, at }
end

-- db, run, link, whether this Redis forgets nothing
local function open(keys, args)
    local base, db, run = keys[1], args[1], args[2]
    local now = clock()
    local reason = refusal(run, args[3], now)
    if reason then return { reason } end
    local meta = base .. ':meta'
    local stored = redis.call('HMGET', meta, 'g', 'v', 's', 'z')
    if stored[1] and stored[2] ~= redis_run() then
        if args[4] == '1' then
            redis.call('HSET', meta, 'v', redis_run())
        else
            -- Nobody knows whether the end of its log is missing.
            discard(base, db, stored[1])
            stored[1] = false
        end
    end
    host(run, base)
    local nodes = redis.call('HGETALL', NODES)
    if not stored[1] then return { 'none', integer(now), nodes } end
    -- A sleeper lives longer than that, and may be opened for a read only. One of an older library is in no list yet.
    if stored[4] then redis.call('ZADD', SLEEPERS, '0', name_in(base)) else keep_alive(base) end
    return {
        'found', integer(now), nodes, redis.call('HGETALL', meta),
        redis.call('GET', base .. ':snap'),
        redis.call('XRANGE', base .. ':log', integer((stored[3] or 0) + 1) .. '-0', '+'),
    }
end

-- run
local function close(keys, args)
    redis.call('SREM', 'sb:node:' .. args[1] .. ':sessions', name_in(keys[1]))
    return { 'ok' }
end

-- run, link, generation, n, id, microseconds that the log is kept, snapshot
local function keep(keys, args)
    local base, run, number = keys[1], args[1], tonumber(args[4])
    local meta = base .. ':meta'
    local now = clock()
    local reason = refusal(run, args[2], now)
    if reason then return { reason } end
    local stored = redis.call('HMGET', meta, 'g', 'n', 'v', 's', 'tn', 'ta')
    if stored[1] ~= args[3] then return { 'gone' } end
    if stored[3] ~= redis_run() or number > tonumber(stored[2]) then return { 'unvouched' } end
    if number <= tonumber(stored[4] or 0) then return { 'older' } end
    redis.call('SET', base .. ':snap', args[7], 'EX', SESSION_LIFE)
    redis.call('HSET', meta, 's', args[4], 'si', args[5])
    local mark, at = tonumber(stored[5] or 0), tonumber(stored[6] or now)
    if not stored[5] then
        mark, at = number, now
        redis.call('HSET', meta, 'tn', args[4], 'ta', integer(now))
    end
    if now - at >= tonumber(args[6]) then
        redis.call('XTRIM', base .. ':log', 'MINID', integer(mark + 1) .. '-0')
        redis.call('HSET', meta, 'tn', args[4], 'ta', integer(now))
    end
    -- A lost run appends no more. A run that is not in the list may live: after Redis has forgotten the list, it
    -- is missing until its next greeting.
    local fields = redis.call('HKEYS', meta)
    for i = 1, #fields do
        local other = string.match(fields[i], '^c:(.*)')
        if other and not is_alive(redis.call('HGET', NODES, other) or 'a') then redis.call('HDEL', meta, fields[i]) end
    end
    return { 'kept' }
end

-- generation, n
--
-- Forgets the commands up to a number, which a snapshot replaces, however young they are: they have erased content.
local function forget(keys, args)
    local stored = redis.call('HMGET', keys[1] .. ':meta', 'g', 's')
    if stored[1] == args[1] and tonumber(stored[2] or 0) >= tonumber(args[2]) then
        redis.call('XTRIM', keys[1] .. ':log', 'MINID', integer(args[2] + 1) .. '-0')
    end
    return { 'ok' }
end

-- The last state of a session that sleeps; nil, and not in the list any more, if it does not.
local function state_of_sleeper(name)
    local base = 'sb:{' .. name .. '}'
    -- Another program may have changed the keys.
    local state = redis.pcall('HGET', base .. ':meta', 'z') == '1' and redis.pcall('GET', base .. ':snap')
    if type(state) == 'string' then return state end
    redis.call('ZREM', SLEEPERS, name)
end

-- run, link, generation, n, id, seconds that the keys live, snapshot, seconds until its restrictions have ended
--
-- Nobody is left, and the session has a history: its last state stays in the place of its commands.
local function sleep(keys, args)
    local base, run = keys[1], args[1]
    local meta = base .. ':meta'
    local reason = refusal(run, args[2], clock())
    if reason then return { reason } end
    local stored = redis.call('HMGET', meta, 'g', 'n', 'id', 'v')
    if stored[1] ~= args[3] or stored[2] ~= args[4] or stored[3] ~= args[5] then return { 'awake' } end
    if stored[4] ~= redis_run() then return { 'unvouched' } end
    redis.call('SET', base .. ':snap', args[7], 'EX', args[6])
    redis.call('HSET', meta, 's', args[4], 'si', args[5], 'z', '1')
    if args[8] then redis.call('HSET', meta, 'u', integer(redis.call('TIME')[1] + args[8])) end
    redis.call('HDEL', meta, 'tn', 'ta')
    redis.call('EXPIRE', meta, args[6])
    redis.call('DEL', base .. ':log')
    -- Two of the others are looked at, so that the names of forgotten sessions become no more than those that sleep.
    for _, name in ipairs(redis.call('ZRANDMEMBER', SLEEPERS, '2')) do state_of_sleeper(name) end
    redis.call('ZADD', SLEEPERS, '0', name_in(base))
    return { 'asleep' }
end

-- the least name, the name that ends the range, the most names to look at, the bytes of states that suffice
--
-- Replies with the last name looked at if others may follow, then with names and states, the greatest name first.
local function sleepers(keys, args)
    local limit, room, found, last = tonumber(args[3]), tonumber(args[4]), {}, ''
    local names = redis.call(
        'ZREVRANGEBYLEX', SLEEPERS, '(' .. args[2], '[' .. args[1], 'LIMIT', '0', integer(limit + 1))
    for i, name in ipairs(names) do
        if i > limit or room <= 0 then return { 'sleepers', last, found } end
        local state = state_of_sleeper(name)
        if state then
            found[#found + 1] = name
            found[#found + 1] = state
            room = room - #state
        end
        last = name
    end
    return { 'sleepers', '', found }
end

-- db, run, generation, n, id
local function remove(keys, args)
    local stored = redis.call('HMGET', keys[1] .. ':meta', 'g', 'n', 'id')
    if stored[1] ~= args[3] or stored[2] ~= args[4] or stored[3] ~= args[5] then return { 'kept' } end
    discard(keys[1], args[1], args[3])
    return { 'removed' }
end

-- Whether the functions can work with what is kept of a session.
local function is_sound(base)
    for suffix, kind in pairs({ [':meta'] = 'hash', [':log'] = 'stream', [':snap'] = 'string' }) do
        local found = redis.call('TYPE', base .. suffix).ok
        if found ~= kind and found ~= 'none' then return false end
    end
    local fields = redis.call('HGETALL', base .. ':meta')
    if #fields == 0 then return true end
    local meta = {}
    for i = 1, #fields, 2 do
        meta[fields[i]] = fields[i + 1]
        if string.sub(fields[i], 1, 2) == 'c:' and not tonumber(fields[i + 1]) then return false end
    end
    for _, name in ipairs({ 'n', 'at' }) do if not tonumber(meta[name]) then return false end end
    for _, name in ipairs({ 's', 'tn', 'ta' }) do if not tonumber(meta[name] or 0) then return false end end
    return meta.g and meta.v and meta.id
end

-- db, generation that the sender knows
--
-- Another function has failed. If the session's keys are the reason, the session begins anew.
local function repair(keys, args)
    local base, db = keys[1], args[1]
    if is_sound(base) then return { 'sound' } end
    local generation = redis.pcall('HGET', base .. ':meta', 'g')
    discard(base, db, type(generation) == 'string' and generation or args[2])
    return { 'removed' }
end

-- The id of a command that is in the log or ends the snapshot; nil if nobody knows it any more.
local function id_at(base, number)
    local entry = redis.call('XRANGE', base .. ':log', number .. '-0', number .. '-0')[1]
    if entry then return entry[2][4] end
    local snapshot = redis.call('HMGET', base .. ':meta', 's', 'si')
    if snapshot[1] == number then return snapshot[2] end
end

-- db, run, link, generation, n, id, at, and to restore: snapshot, pairs of runs and counters
--
-- A node says what it has of a session. Redis may have forgotten it, or the end of it.
local function restore(keys, args)
    local base, db, run, generation, number, id = keys[1], args[1], args[2], args[4], args[5], args[6]
    local meta = base .. ':meta'
    local now = restoring_clock(tonumber(args[7]))
    local reason = refusal(run, args[3], now, true)
    if reason then return { reason } end
    local stored = redis.call('HMGET', meta, 'g', 'n', 'id', 'v', 'at')
    if stored[1] and stored[1] ~= generation then
        local is_older = stored[4] ~= redis_run() and now < restoring_end()
            and tonumber(stored[5] or 0) < tonumber(args[7])
        if not is_older then return { 'gone' } end
        -- Redis has restarted with old data, from before this order began.
        discard(base, db, stored[1])
        stored = {}
    end
    if not stored[1] or tonumber(stored[2]) < tonumber(number) then
        if redis.call('EXISTS', 'sb:gone:' .. generation) == 1 then return { 'gone' } end
        if now >= restoring_end() then
            -- Too late: others may have continued without these commands.
            if stored[1] then discard(base, db, generation) end
            return { 'gone' }
        end
        prolong_restoring(now)
        if #args < 8 then return { 'wanted', stored[2], stored[3] } end
        redis.call('DEL', meta, base .. ':log')
        redis.call('SET', base .. ':snap', args[8])
        redis.call('HSET', meta, 'g', generation, 'v', redis_run(), 'n', number, 'id', id, 'at', args[7],
            's', number, 'si', id)
        for i = 9, #args, 2 do redis.call('HSET', meta, 'c:' .. args[i], args[i + 1]) end
        host(run, base)
        keep_alive(base)
        return { 'fine', number, id }
    end
    local known
    if stored[2] == number then known = stored[3] else known = id_at(base, number) end
    if known and known ~= id then
        discard(base, db, generation)
        return { 'gone' }
    end
    if stored[4] ~= redis_run() then
        prolong_restoring(now)
        redis.call('HSET', meta, 'v', redis_run())
        host(run, base)
    end
    -- Nodes ask this every few seconds for each session, and each EXPIRE is written to the append-only file.
    if redis.call('TTL', meta) < SESSION_LIFE / 2 then keep_alive(base) end
    return { 'fine', stored[2], stored[3] }
end

-- Gives the sessions of a lost run to another run, once.
local function claim(run, lost)
    local from, to = 'sb:node:' .. lost .. ':sessions', 'sb:node:' .. run .. ':sessions'
    local sessions = redis.call('SMEMBERS', from)
    if #sessions > 0 then
        redis.call('SUNIONSTORE', to, to, from)
        redis.call('DEL', from)
    end
    return sessions
end

local function lose(db, run, now)
    local value = redis.call('HGET', NODES, run)
    if value and not is_alive(value) then return value end
    value = integer(now)
    redis.call('HSET', NODES, run, value)
    redis.call('DEL', 'sb:node:' .. run)
    redis.call('PUBLISH', 'sb:' .. db .. ':nodes', 'lost ' .. run .. ' ' .. value)
    return value
end

-- db, run, link, the run that is lost, whether it is lost for certain
local function declare_lost(keys, args)
    local db, run, lost = args[1], args[2], args[4]
    local now = clock()
    local reason = refusal(run, args[3], now, true)
    if reason then return { reason } end
    if args[5] ~= '1' and redis.call('EXISTS', 'sb:node:' .. lost) == 1 then return { 'alive' } end
    return { 'lost', lose(db, lost, now), claim(run, lost) }
end

-- db, run
local function goodbye(keys, args)
    return { 'ok', lose(args[1], args[2], clock()) }
end

-- The history of a session (HIS-1 to HIS-9). A message is one member of a set, sorted by seq:
-- <seq> <ms since 1970> <bytes of the head> <1 if erased, else 0>\n<head><content>
local function archive(base)
    local stored = redis.call('HMGET', base .. ':kept', 'last', 'trimmed', 'bytes', 'project')
    return {
        base = base, set = base .. ':history', meta = base .. ':kept', known = stored[1], project = stored[4],
        last = tonumber(stored[1] or 0), trimmed = tonumber(stored[2] or 0), bytes = tonumber(stored[3] or 0),
    }
end

-- What a history takes beside its messages, with the state in which its session sleeps, and what a message takes beside
-- its bytes: measured.
local HISTORY_COST, MESSAGE_COST = 2500, 160

local function cost(kept)
    local count = redis.call('ZCARD', kept.set)
    return count == 0 and 0 or HISTORY_COST + count * MESSAGE_COST + kept.bytes
end

local function note_cost(project, session, size)
    local key = 'sb:histories:' .. project
    local before = tonumber(redis.call('ZSCORE', key, session) or 0)
    if size == before then return end
    if size > 0 then redis.call('ZADD', key, integer(size), session) else redis.call('ZREM', key, session) end
    if redis.call('EXISTS', key) == 1 then
        redis.call('ZINCRBY', 'sb:histories', integer(size - before), project)
    else
        redis.call('ZREM', 'sb:histories', project)
    end
end

local function save(kept)
    redis.call('HSET', kept.meta, 'last', integer(kept.last), 'trimmed', integer(kept.trimmed),
        'bytes', integer(kept.bytes))
    if kept.project then note_cost(kept.project, name_in(kept.base), cost(kept)) end
end

local function read_message(value)
    local line = string.find(value, '\n', 1, true)
    local seq, time, head, erased = string.match(string.sub(value, 1, line - 1), '^(%d+) (%-?%d+) (%d+) ([01])$')
    return {
        seq = seq, time = time, head = string.sub(value, line + 1, line + tonumber(head)), is_erased = erased == '1',
        content = line + 1 + tonumber(head),
        -- What it counts for the bounds: about its bytes in a page.
        size = #value - line + 24 + (erased == '1' and 15 or 0),
    }
end

-- Removes the oldest messages for as long as `is_over` says so. Returns whether there were any.
local function trim(kept, is_over)
    local count, has_trimmed = redis.call('ZCARD', kept.set), false
    while count > 0 do
        local value = redis.call('ZRANGE', kept.set, '0', '0')[1]
        local message = read_message(value)
        if not is_over(message, count) then break end
        redis.call('ZREM', kept.set, value)
        count, has_trimmed = count - 1, true
        kept.bytes = kept.bytes - message.size
        kept.trimmed = math.max(kept.trimmed, tonumber(message.seq))
    end
    return has_trimmed
end

-- The time of messages that are too old.
local function cutoff(age) return clock() / 1000 - tonumber(age) end

local function trim_to(kept, age, most, bytes)
    local oldest = cutoff(age)
    trim(kept, function(message, count)
        return count > tonumber(most) or kept.bytes > tonumber(bytes) or tonumber(message.time) < oldest
    end)
end

-- Histories grow no further when Redis uses this part of maxmemory: the rest is for joins and signals.
local HISTORY_LIMIT = 0.7
-- Histories always have this part of maxmemory. Messages that find no room wait in the states of their sessions, which
-- take more memory then.
local HISTORY_FLOOR = 0.1
-- Redis does nothing else while a call trims.
local TRIMMED_COUNT, TRIMMED_SESSIONS = 2048, 256

local memory_time, used_memory, max_memory

-- What Redis uses, as of the last tenth of a second: to ask takes some time.
local function read_memory()
    local time = redis.call('TIME')
    local now = time[1] * 10 + math.floor(time[2] / 100000)
    if now == memory_time then return end
    local info = redis.call('INFO', 'memory')
    memory_time = now
    used_memory = tonumber(string.match(info, '\nused_memory:(%d+)'))
    max_memory = tonumber(string.match(info, '\nmaxmemory:(%d+)'))
end

-- Forgets an empty history, unless somebody is in its session. A session that sleeps for nothing else ends with it.
local function end_sleep(base)
    local stored = redis.call('HMGET', base .. ':meta', 'g', 'z', 'u')
    if stored[1] and not stored[2] then return end
    redis.call('DEL', base .. ':kept')
    if not stored[3] then return end
    local life = math.max(1, stored[3] - redis.call('TIME')[1])
    if life < redis.call('TTL', base .. ':meta') then
        redis.call('EXPIRE', base .. ':meta', integer(life))
        redis.call('EXPIRE', base .. ':snap', integer(life))
    end
end

-- Removes the oldest messages of the largest history of a project, but not many. Returns their number.
local function trim_largest(project, limit)
    local session = redis.call('ZREVRANGE', 'sb:histories:' .. project, '0', '0')[1]
    if not session then
        redis.call('ZREM', 'sb:histories', project)
        return 0
    end
    local count = 0
    local is_sound = pcall(function()
        local kept = archive('sb:{' .. session .. '}')
        trim(kept, function()
            count = count + 1
            return count <= limit
        end)
        count = math.min(count, limit)
        kept.project = project
        if kept.known then save(kept) end
        if cost(kept) == 0 then
            note_cost(project, session, 0)
            end_sleep(kept.base)
        end
    end)
    -- Another program has changed its keys. Those of the others still count.
    if not is_sound then note_cost(project, session, 0) end
    return count
end

-- Makes room for messages of so many bytes if Redis has none (HIS-2): the project that has the most loses the oldest
-- messages of its largest sessions. Returns their number; nil if there is more to trim first.
local function make_room(size)
    read_memory()
    if max_memory == 0 then return 0 end
    local excess, trimmed = used_memory + size - max_memory * HISTORY_LIMIT, 0
    -- Faster than the messages come, so that it ends.
    excess = math.min(excess, 2 * size + 65536)
    for _ = 1, TRIMMED_SESSIONS do
        local largest = redis.call('ZREVRANGE', 'sb:histories', '0', '0', 'WITHSCORES')
        local floor = max_memory * HISTORY_FLOOR / redis.call('ZCARD', 'sb:histories')
        if excess <= 0 or not largest[1] or tonumber(largest[2]) + size <= floor then
            used_memory = used_memory + size
            return trimmed
        end
        if trimmed >= TRIMMED_COUNT then break end
        trimmed = trimmed + trim_largest(largest[1], 32)
        local freed = largest[2] - (redis.call('ZSCORE', 'sb:histories', largest[1]) or 0)
        excess, used_memory = excess - freed, used_memory - freed
    end
    if used_memory + size >= max_memory then return nil end
    used_memory = used_memory + size
    return trimmed
end

-- Looks whether two histories are still there.
local function find_forgotten()
    local project = redis.call('ZRANDMEMBER', 'sb:histories')
    if not project then return end
    for _, session in ipairs(redis.call('ZRANDMEMBER', 'sb:histories:' .. project, '2')) do
        if redis.call('EXISTS', 'sb:{' .. session .. '}:history') == 0 then note_cost(project, session, 0) end
    end
end

-- age in ms, messages, bytes, seconds that the keys live, project, then pairs of seqs and messages
--
-- A message that is there, erased or trimmed stays so: a node that was frozen may come late with what it had.
local function archive_add(keys, args)
    local size = redis.call('EXISTS', keys[1] .. ':history') == 1 and 0 or HISTORY_COST
    for i = 7, #args, 2 do size = size + #args[i] + MESSAGE_COST end
    local trimmed = make_room(size)
    if not trimmed then return redis.error_reply('OOM the histories take too much') end
    find_forgotten()
    local kept = archive(keys[1])
    kept.project = args[5]
    for i = 6, #args, 2 do
        local seq = tonumber(args[i])
        if seq > kept.trimmed and redis.call('ZCOUNT', kept.set, args[i], args[i]) == 0 then
            redis.call('ZADD', kept.set, args[i], args[i + 1])
            kept.bytes = kept.bytes + read_message(args[i + 1]).size
            kept.last = math.max(kept.last, seq)
        end
    end
    trim_to(kept, args[1], args[2], args[3])
    redis.call('HSET', kept.meta, 'project', kept.project)
    save(kept)
    redis.call('EXPIRE', kept.set, args[4])
    redis.call('EXPIRE', kept.meta, args[4])
    return { 'stored', redis_run(), '', trimmed }
end

-- A seq as a member of JSON has it; nil for any other number.
local function seq_of(number)
    if not number or #number > 16 or string.find(number, '^0.') then return nil end
    number = tonumber(number)
    return number <= 9007199254740992 and number or nil
end

-- The seq of the edit at the end of what a message says (CHG-8); nil without one. Nothing else ends like this.
local function edited_of(content)
    local version, date = string.match(string.sub(content, -64), ',"changed":(%d+),"edited":%-?(%d+)$')
    return date and #date <= 16 and not string.find(date, '^0.') and seq_of(version) or nil
end

-- The seq of the event that told the reactions at the end of a content (CHG-13); nil without any.
local function reacted_of(content)
    return seq_of(string.match(string.sub(content, -32), ',"reacted":(%d+)$'))
end

-- What a message says, and the reactions to it. JSON escapes the quotation marks of what clients write.
local function parts_of(content)
    local start = reacted_of(content) and string.find(content, ',"reactions":[', 1, true)
    if not start then return content, '' end
    return string.sub(content, 1, start - 1), string.sub(content, start)
end

-- Puts other content in the place of a message's.
local function replace(kept, value, message, flag, content)
    local new = message.seq .. ' ' .. message.time .. ' ' .. #message.head .. ' ' .. flag .. '\n' .. message.head .. content
    -- In this order the set is never empty, and keeps its life.
    redis.call('ZADD', kept.set, message.seq, new)
    redis.call('ZREM', kept.set, value)
    kept.bytes = kept.bytes - message.size + read_message(new).size
end

-- age in ms, messages, bytes, then pairs of seqs and parts of contents with the seq of the change at their ends
--
-- Edited messages, and reactions to messages. The keys live no longer for it.
local function archive_put(keys, args)
    local size = 0
    for i = 5, #args, 2 do size = size + #args[i] end
    local trimmed = make_room(size)
    if not trimmed then return redis.error_reply('OOM the histories take too much') end
    local kept = archive(keys[1])
    if not kept.known then return { 'stored', redis_run(), '', trimmed } end
    for i = 4, #args, 2 do
        local value = redis.call('ZRANGEBYSCORE', kept.set, args[i], args[i])[1]
        local message, form = value and read_message(value), args[i + 1]
        if message and not message.is_erased then
            local said, reactions = parts_of(string.sub(value, message.content))
            if string.sub(form, 1, 14) == ',"reactions":[' then
                local version = reacted_of(form)
                if version and (reacted_of(reactions) or -1) < version then
                    replace(kept, value, message, '0', said .. form)
                end
            else
                local version = edited_of(form)
                if version and (edited_of(said) or -1) < version then
                    replace(kept, value, message, '0', form .. reactions)
                end
            end
        end
    end
    trim_to(kept, args[1], args[2], args[3])
    save(kept)
    return { 'stored', redis_run(), '', trimmed }
end

-- age in ms; newest, before or after; seq; the most messages and bytes
local function archive_page(keys, args)
    local kept, kind, limit, room = archive(keys[1]), args[2], tonumber(args[4]), tonumber(args[5])
    local oldest = cutoff(args[1])
    if trim(kept, function(message) return tonumber(message.time) < oldest end) then save(kept) end
    local first, last = redis.call('ZRANGE', kept.set, '0', '0')[1], redis.call('ZRANGE', kept.set, '-1', '-1')[1]
    local found, bytes, more = {}, 0, 0
    if not first then return { 'page', '', '', 0, found } end
    local command, from, to = 'ZREVRANGEBYSCORE', '+inf', '-inf'
    if kind == 'before' then from = '(' .. args[3] end
    if kind == 'after' then command, from, to = 'ZRANGEBYSCORE', '(' .. args[3], '+inf' end
    while more == 0 do
        -- A few at a time, since large ones fill a page soon.
        local values = redis.call(command, kept.set, from, to, 'LIMIT', integer(#found), '16')
        for _, value in ipairs(values) do
            local size = read_message(value).size
            if #found > 0 and (#found >= limit or bytes + size > room) then
                more = 1
                break
            end
            found[#found + 1] = value
            bytes = bytes + size
        end
        if #values < 16 then break end
    end
    return { 'page', read_message(first).seq, read_message(last).seq, more, found }
end

local function erase_content(kept, value, message) replace(kept, value, message, '1', '') end

-- message or through, seq
local function archive_erase(keys, args)
    local kept, seq = archive(keys[1]), tonumber(args[2])
    if not kept.known then return { 'stored', redis_run() } end
    if args[1] == 'message' then
        local value = redis.call('ZRANGEBYSCORE', kept.set, args[2], args[2])[1]
        local message = value and read_message(value)
        if message and not message.is_erased then erase_content(kept, value, message) end
    else
        trim(kept, function(message) return tonumber(message.seq) <= seq end)
        kept.trimmed = math.max(kept.trimmed, math.min(seq, kept.last))
    end
    save(kept)
    return { 'stored', redis_run() }
end

-- the seq before which messages are concerned, how the heads of the user's messages end, the seq after which to begin,
-- the most messages to look at
--
-- Replies with the seq after which the next call has to begin, if others follow.
local function archive_erase_user(keys, args)
    local kept, head_end, limit = archive(keys[1]), args[2], tonumber(args[4])
    if not kept.known then return { 'stored', redis_run(), '' } end
    local values = redis.call('ZRANGEBYSCORE', kept.set, '(' .. args[3], '(' .. args[1], 'LIMIT', '0', args[4])
    local last = ''
    for _, value in ipairs(values) do
        local message = read_message(value)
        last = message.seq
        if not message.is_erased and string.sub(message.head, -#head_end) == head_end then
            erase_content(kept, value, message)
        end
    end
    save(kept)
    return { 'stored', redis_run(), #values < limit and '' or last }
end

local function archive_end(keys) return { 'end', archive(keys[1]).known } end

-- The feeds of projects (FEED-1 to FEED-4). A position is the id of an entry in the stream: <ms>-<n>, by the log's clock,
-- which goes on after a restart of Redis where the nodes have it. n counts below 2^20, and ms below 2^42.
local POSITION_NUMBERS, POSITION_TIMES = 1048576, 4398046511104
-- What an entry takes beside its bytes: about.
local ENTRY_COST = 64
-- The old entries that a call removes beyond those that it adds.
local REMOVED_ENTRIES = 64
-- A page of a feed ends behind the entry that reaches these bytes.
local FEED_PAGE_BYTES = 1048576

local function position(text)
    local time, number = string.match(text, '^(%d+)%-(%d+)$')
    time, number = tonumber(time), tonumber(number)
    if not time or time >= POSITION_TIMES or number >= POSITION_NUMBERS then error('no position') end
    return time, number
end

local function position_text(time, number) return integer(time) .. '-' .. integer(number) end

local function before(time, number)
    if number > 0 then return position_text(time, number - 1) end
    return position_text(time - 1, POSITION_NUMBERS - 1)
end

local function clock_ms() return math.floor(clock() / 1000) end

-- `last` is nil for a feed that had no entry yet. Fails if another program has changed the keys.
local function feed_of(project)
    local feed = { stream = 'sb:feed:' .. project, state = 'sb:feed-state:' .. project }
    local stored = redis.call('HMGET', feed.state, 'start', 'gone', 'last')
    feed.start, feed.gone, feed.last = stored[1] or nil, stored[2] or nil, stored[3] or nil
    if not feed.last then
        redis.call('DEL', feed.stream)
        return feed
    end
    position(feed.start)
    position(feed.gone)
    position(feed.last)
    -- Its entries have expired.
    if redis.call('XLEN', feed.stream) == 0 then feed.gone = feed.last end
    return feed
end

local function save_feed(feed)
    redis.call('HSET', feed.state, 'start', feed.start, 'gone', feed.gone, 'last', feed.last)
end

-- Removes the oldest entries: so many, and those that are too old, but not more than a limit.
local function trim_feed(feed, excess, age, limit)
    local oldest = clock_ms() - tonumber(age)
    local first = redis.call('XRANGE', feed.stream, '-', '+', 'COUNT', '1')[1]
    if not first then return end
    if position(first[1]) >= oldest then limit = math.min(limit, excess) end
    if limit <= 0 then return end
    local removed = 0
    for _, entry in ipairs(redis.call('XRANGE', feed.stream, '-', '+', 'COUNT', integer(limit))) do
        if removed >= excess and position(entry[1]) >= oldest then break end
        removed, feed.gone = removed + 1, entry[1]
    end
    redis.call('XTRIM', feed.stream, 'MAXLEN', integer(redis.call('XLEN', feed.stream) - removed))
end

local function reset_feed(project) redis.call('DEL', 'sb:feed:' .. project, 'sb:feed-state:' .. project) end

-- Carries out a call on the feed of a project. If another program has changed the keys, the feed begins anew.
local function with_feed(project, body)
    local is_sound, reply = pcall(function() return body(feed_of(project)) end)
    if is_sound then return reply end
    reset_feed(project)
    return body(feed_of(project))
end

-- project, age in ms, the most entries, seconds that the entries live, session, entries
local function feed_add(keys, args)
    local count, size = #args - 5, 0
    for i = 6, #args do size = size + #args[i] + #args[5] + ENTRY_COST end
    local trimmed = make_room(size)
    if not trimmed then return redis.error_reply('OOM the histories take too much') end
    return with_feed(args[1], function(feed)
        local now = clock()
        local time, number = math.floor(now / 1000), 0
        if feed.last then
            local last_time, last_number = position(feed.last)
            if time <= last_time then time, number = last_time, last_number + 1 end
        else
            -- The keys may have been removed in this millisecond.
            number = now % 1000 * 1000
        end
        for i = 6, #args do
            if number == POSITION_NUMBERS then time, number = time + 1, 0 end
            if not feed.last then
                feed.start = before(time, number)
                feed.gone = feed.start
            end
            feed.last = position_text(time, number)
            redis.call('XADD', feed.stream, feed.last, 'session', args[5], 'entry', args[i])
            number = number + 1
        end
        redis.call('EXPIRE', feed.stream, args[4])
        local excess = redis.call('XLEN', feed.stream) - tonumber(args[3])
        -- A feed does not grow while Redis has no room.
        if max_memory > 0 and used_memory > max_memory * HISTORY_LIMIT then excess = math.max(excess, 2 * count) end
        trim_feed(feed, excess, args[2], count + REMOVED_ENTRIES)
        save_feed(feed)
        return { 'stored', redis_run(), '', trimmed }
    end)
end

-- project, age in ms; oldest, newest or after; position; the most entries
--
-- Replies with the start, what is gone, the last position, the clock in ms, whether others follow, and the entries.
local function feed_read(keys, args)
    return with_feed(args[1], function(feed)
        if not feed.last then return { 'feed', '' } end
        local gone = feed.gone
        trim_feed(feed, 0, args[2], REMOVED_ENTRIES)
        if feed.gone ~= gone then save_feed(feed) end
        local found, bytes, more, limit = {}, 0, 0, args[3] == 'newest' and 0 or tonumber(args[5])
        local from = args[3] == 'oldest' and feed.gone or args[4]
        while limit > 0 and more == 0 do
            local entries = redis.call('XRANGE', feed.stream, '(' .. from, '+', 'COUNT', '17')
            for i, entry in ipairs(entries) do
                if #found >= limit or bytes >= FEED_PAGE_BYTES then
                    more = 1
                    break
                end
                -- The others are read once more.
                if i == 17 then break end
                found[#found + 1] = entry
                bytes = bytes + #entry[2][4]
                from = entry[1]
            end
            if #entries < 17 then break end
        end
        return { 'feed', feed.start, feed.gone, feed.last, integer(clock_ms()), more, found }
    end)
end

-- project
local function feed_reset(keys, args)
    reset_feed(args[1])
    return { 'feed', '' }
end

-- project, and the position to keep, if there is one
local function feed_cursor(keys, args)
    return with_feed(args[1], function(feed)
        if args[2] then redis.call('HSET', feed.state, 'cursor', args[2]) end
        return { 'cursor', redis.call('HGET', feed.state, 'cursor') }
    end)
end

-- project, node, milliseconds
local function feed_claim(keys, args)
    local key = 'sb:feed-claim:' .. args[1]
    local holder = redis.call('GET', key)
    if holder and holder ~= args[2] then return { 'claim', 'taken' } end
    if args[3] == '0' then
        redis.call('DEL', key)
    else
        redis.call('SET', key, args[2], 'PX', args[3])
    end
    return { 'claim', 'granted' }
end

-- What a project has revoked has changed: all nodes learn it at once.
local function note_revocations(db, project)
    redis.call('HINCRBY', 'sb:revoked', project, 1)
    redis.call('PUBLISH', 'sb:' .. db .. ':nodes', 'revoked ' .. project)
end

-- db, project, limit, then pairs of subjects and numbers
local function revoke(keys, args)
    local key, limit, is_new = keys[1], tonumber(args[3]), false
    for index = 4, #args, 2 do
        local subject, number = args[index], args[index + 1]
        local old = redis.call('HGET', key, subject)
        if not old and redis.call('HLEN', key) >= limit then
            if is_new then note_revocations(args[1], args[2]) end
            return { 'full' }
        end
        if not old or tonumber(number) > tonumber(old) then
            redis.call('HSET', key, subject, number)
            is_new = true
        end
    end
    if is_new then note_revocations(args[1], args[2]) end
    return { 'raised', redis.call('HGET', key, args[4]) }
end

-- db, project, subject
local function take_back_revocation(keys, args)
    local count = redis.call('HDEL', keys[1], args[3])
    if count > 0 then note_revocations(args[1], args[2]) end
    return { 'removed', count }
end

local function revocation_index() return { 'revoked', redis_run(), redis.call('HGETALL', 'sb:revoked') } end

-- project
local function revocation_rows(keys, args)
    return { 'rows', redis.call('HGET', 'sb:revoked', args[1]) or '0', redis.call('HGETALL', keys[1]) }
end

local function process() return { 'process', redis_run() } end

local function register(name, callback, flags)
    redis.register_function{ function_name = 'sb1_' .. name, callback = callback, flags = flags }
end

register('append', append, {})
-- These free memory, or keep the nodes alive.
register('append_freeing', append, { 'allow-oom' })
register('hello', hello, { 'allow-oom' })
register('open', open, { 'allow-oom' })
register('close', close, { 'allow-oom' })
register('keep', keep, { 'allow-oom' })
register('forget', forget, { 'allow-oom' })
register('sleep_listed', sleep, { 'allow-oom' })
-- For older servers, which have this name for it.
register('sleep', sleep, { 'allow-oom' })
register('sleepers', sleepers, { 'allow-oom' })
register('remove', remove, { 'allow-oom' })
register('repair', repair, { 'allow-oom' })
register('restore', restore, { 'allow-oom' })
register('declare_lost', declare_lost, { 'allow-oom' })
register('goodbye', goodbye, { 'allow-oom' })
-- It looks for room itself.
register('archive_add', archive_add, { 'allow-oom' })
register('archive_put', archive_put, { 'allow-oom' })
register('archive_page', archive_page, { 'allow-oom' })
register('archive_erase', archive_erase, { 'allow-oom' })
register('archive_erase_user', archive_erase_user, { 'allow-oom' })
register('archive_end', archive_end, { 'allow-oom' })
register('feed_add', feed_add, { 'allow-oom' })
register('feed_read', feed_read, { 'allow-oom' })
register('feed_reset', feed_reset, { 'allow-oom' })
register('feed_cursor', feed_cursor, { 'allow-oom' })
register('feed_claim', feed_claim, { 'allow-oom' })
register('revoke', revoke, { 'allow-oom' })
register('take_back_revocation', take_back_revocation, { 'allow-oom' })
register('revocation_index', revocation_index, { 'allow-oom' })
register('revocation_rows', revocation_rows, { 'allow-oom' })
register('process', process, { 'allow-oom' })
