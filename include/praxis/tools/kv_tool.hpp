// The `kv` tool: a key-value store in memory that lives as long as the tool. Sessions whose agents hold
// copies of one tool share its entries. Entries do not survive the process.
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

/// Operations `put`, `get`, `delete` and `list`. Reports each change. Safe by default; idempotent.
Tool kv_tool(KvLimits limits = {});

}  // namespace praxis
#pragma GCC visibility pop
