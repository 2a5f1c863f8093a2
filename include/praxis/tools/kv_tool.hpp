// The `kv` tool: notes by key, kept in memory as long as the tool lives. Sessions whose agents hold copies of
// one tool share its entries, and nothing survives the process.
#pragma once

#include <cstddef>

#include "praxis/tools/tool.hpp"

namespace praxis {

/// What does not fit is refused with a message that says so; nothing is evicted.
struct KvLimits {
  std::size_t max_entries = 10'000;
  std::size_t max_bytes = 16 * 1024 * 1024;  ///< keys and values together
};

/// Operations `put`, `get`, `delete` and `list`. Reports each change; safe by default; idempotent.
Tool kv_tool(KvLimits limits = {});

}  // namespace praxis
