// What a memory in Redis runs in the server: each script is one atomic operation.
#pragma once

namespace praxis {

/// All keys of a memory begin with this. The layout:
///
///     meta          hash: version, notes, bytes, next (the last id), effect (the last number of an effect)
///     effects       sorted set: the keys of effects, by twice their number plus the result
///     names:SPACE   hash: the id of each collection, by its name
///     collections   hash: the name of each collection, by its id
///     bytes         hash: the bytes of each collection, by its id
///     heads         hash: COLLECTION:WRITTEN:KEY of each note, by its id
///     values        hash: the JSON text of each note, by its id
///     order:SPACE   sorted set: the ids of all notes of a space
///     order-in:ID   sorted set: the ids of the notes of a collection
///     ids-in:ID     hash: the id of each note of a collection, by its key
///     keys-in:ID    sorted set: the keys of a collection, in the order of their bytes
///
/// An id is the place in the order of writing. SPACE is the number of a `NoteSpace`.
inline constexpr const char* kRedisPrefix = "praxis:memory:";

/// Prepares a memory. ARGV: 1 to create it, the version. Returns the version, 0 without a memory.
extern const char* const kRedisPrepare;

/// Makes a change. ARGV: space, collection, key of the effect, notes at most, bytes at most, effects at most,
/// 1 to remove the whole collection, number of removals, the keys, then key, value and time of each write.
/// Returns what happened (`done`, `known`, `full`) and the result as 0 or 1. Checks everything before the
/// first write, because nothing undoes what a script wrote.
extern const char* const kRedisChange;

/// Reads notes. ARGV: space, collection (empty: all of the space), `get`, `keys`, `newest` or `oldest`, the
/// key or id to start after, notes at most, bytes at most. Returns id, head, value and the name of the
/// collection of each; at least one if there is one.
extern const char* const kRedisRead;

/// ARGV: space. Returns name, number of notes, bytes, and the head of the last note of each collection.
extern const char* const kRedisCollections;

}  // namespace praxis
