#include "memory/redis_scripts.hpp"

namespace praxis {

const char* const kRedisPrepare = R"lua(
local meta = KEYS[1] .. 'meta'
if ARGV[1] == '1' then redis.call('HSETNX', meta, 'version', ARGV[2]) end
return tonumber(redis.call('HGET', meta, 'version') or 0)
)lua";

const char* const kRedisChange = R"lua(
local P, space, name, once = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local removals, first = tonumber(ARGV[8]), 9 + tonumber(ARGV[8])
local meta, effects = P .. 'meta', P .. 'effects'
if once ~= '' then
  local known = redis.call('ZSCORE', effects, once)
  if known then return {'known', tonumber(known) % 2} end
end

local c = redis.call('HGET', P .. 'names:' .. space, name)
local gone, has_gone, notes, bytes = {}, 0, 0, 0
local function leaves(key, id)
  if gone[key] then return end
  gone[key], has_gone, notes = id, 1, notes - 1
  bytes = bytes - #key - redis.call('HSTRLEN', P .. 'values', id)
end
local function may_leave(key)
  local id = c and redis.call('HGET', P .. 'ids-in:' .. c, key)
  if id then leaves(key, id) end
end
if ARGV[7] == '1' and c then
  local all = redis.call('HGETALL', P .. 'ids-in:' .. c)
  for i = 1, #all, 2 do leaves(all[i], all[i + 1]) end
end
for i = 9, first - 1 do may_leave(ARGV[i]) end
local last = {}
for i = first, #ARGV, 3 do last[ARGV[i]] = i end
local writes = 0
for key, i in pairs(last) do
  may_leave(key)
  writes, notes, bytes = writes + 1, notes + 1, bytes + #key + #ARGV[i + 1]
end
local function total(field) return tonumber(redis.call('HGET', meta, field) or 0) end
if writes > 0 and (total('notes') + notes > tonumber(ARGV[4]) or total('bytes') + bytes > tonumber(ARGV[5])) then
  return {'full', 0}
end

-- The first write is one that a server without memory refuses, unless nothing is added.
local function integer(number) return string.format('%.0f', number) end
if writes > 0 then redis.call('HSETNX', meta, 'version', 1) end
for key, id in pairs(gone) do
  redis.call('HDEL', P .. 'heads', id)
  redis.call('HDEL', P .. 'values', id)
  redis.call('ZREM', P .. 'order:' .. space, id)
  redis.call('ZREM', P .. 'order-in:' .. c, id)
  redis.call('HDEL', P .. 'ids-in:' .. c, key)
  redis.call('ZREM', P .. 'keys-in:' .. c, key)
end
if writes > 0 and not c then
  c = integer(redis.call('HINCRBY', meta, 'next', 1))
  redis.call('HSET', P .. 'names:' .. space, name, c)
  redis.call('HSET', P .. 'collections', c, name)
end
for i = first, #ARGV, 3 do
  local key = ARGV[i]
  if last[key] == i then
    local id = integer(redis.call('HINCRBY', meta, 'next', 1))
    redis.call('HSET', P .. 'heads', id, c .. ':' .. ARGV[i + 2] .. ':' .. key)
    redis.call('HSET', P .. 'values', id, ARGV[i + 1])
    redis.call('ZADD', P .. 'order:' .. space, id, id)
    redis.call('ZADD', P .. 'order-in:' .. c, id, id)
    redis.call('HSET', P .. 'ids-in:' .. c, key, id)
    redis.call('ZADD', P .. 'keys-in:' .. c, 0, key)
  end
end
if writes + has_gone > 0 then
  redis.call('HINCRBY', meta, 'notes', integer(notes))
  redis.call('HINCRBY', meta, 'bytes', integer(bytes))
end
if c and redis.call('EXISTS', P .. 'ids-in:' .. c) == 1 then
  redis.call('HINCRBY', P .. 'bytes', c, integer(bytes))
elseif c then
  redis.call('HDEL', P .. 'names:' .. space, name)
  redis.call('HDEL', P .. 'collections', c)
  redis.call('HDEL', P .. 'bytes', c)
end
local result = has_gone
if writes > 0 then result = 1 end
if once ~= '' then
  local number = redis.call('HINCRBY', meta, 'effect', 1)
  redis.call('ZADD', effects, integer(number * 2 + result), once)
  local surplus = redis.call('ZCARD', effects) - tonumber(ARGV[6])
  if surplus > 0 then redis.call('ZREMRANGEBYRANK', effects, 0, surplus - 1) end
end
return {'done', result}
)lua";

const char* const kRedisRead = R"lua(
local P, space, name, how, from = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local limit, bytes_left = tonumber(ARGV[5]), tonumber(ARGV[6])
local c, order = '', P .. 'order:' .. space
if name ~= '' then
  c = redis.call('HGET', P .. 'names:' .. space, name)
  if not c then return {} end
  order = P .. 'order-in:' .. c
end
local ids
if how == 'newest' then
  ids = redis.call('ZREVRANGEBYSCORE', order, '(' .. from, '-inf', 'LIMIT', 0, limit)
elseif how == 'oldest' then
  ids = redis.call('ZRANGEBYSCORE', order, '(' .. from, '+inf', 'LIMIT', 0, limit)
elseif how == 'keys' then
  ids = redis.call('ZRANGEBYLEX', P .. 'keys-in:' .. c, '(' .. from, '+', 'LIMIT', 0, limit)
else
  ids = {from}
end
local notes = {}
for _, id in ipairs(ids) do
  if how == 'get' or how == 'keys' then id = redis.call('HGET', P .. 'ids-in:' .. c, id) end
  if id then
    local head, value = redis.call('HGET', P .. 'heads', id), redis.call('HGET', P .. 'values', id)
    bytes_left = bytes_left - #head - #value
    if bytes_left < 0 and #notes > 0 then break end
    notes[#notes + 1] = id
    notes[#notes + 1] = head
    notes[#notes + 1] = value
    local of = name == '' and redis.call('HGET', P .. 'collections', string.match(head, '^%d+'))
    notes[#notes + 1] = of or name
  end
end
return notes
)lua";

const char* const kRedisCollections = R"lua(
local P, space = KEYS[1], ARGV[1]
local names, all = redis.call('HGETALL', P .. 'names:' .. space), {}
for i = 1, #names, 2 do
  local c = names[i + 1]
  local newest = redis.call('ZREVRANGE', P .. 'order-in:' .. c, 0, 0)[1]
  all[#all + 1] = names[i]
  all[#all + 1] = redis.call('HLEN', P .. 'ids-in:' .. c)
  all[#all + 1] = tonumber(redis.call('HGET', P .. 'bytes', c))
  all[#all + 1] = redis.call('HGET', P .. 'heads', newest)
end
return all
)lua";

}  // namespace praxis
