// The `kv` tool: notes by key, which belong to the session. They are a projection of its log and need no
// storage of their own: they survive crash, resume, waiting and fork, a rewind takes back those of the
// removed turns, and no other session sees them, sub-agents included.
#pragma once

#include <cstddef>

#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// A `put` that would exceed a limit is refused with a message; entries are never evicted.
struct KvLimits {
  std::size_t max_entries = 10'000;
  std::size_t max_bytes = 16 * 1024 * 1024;  ///< keys and values together
};

/// Operations `put`, `get`, `delete` and `list` on the notes of the calling session. A call sees the changes
/// of the calls that have settled; of calls that run at the same time, each is checked against the limits by
/// itself. Reports each change. Safe by default; idempotent. Error `kInput` outside a session.
Tool kv_tool(KvLimits limits = {});

/// The same on one store in the memory of this process, which all sessions share whose agents hold copies of
/// the returned tool. Its entries are not durable: a session that resumes in another process does not find
/// them.
Tool shared_kv_tool(KvLimits limits = {});

}  // namespace praxis
#pragma GCC visibility pop
