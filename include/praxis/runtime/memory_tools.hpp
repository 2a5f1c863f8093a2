// The tools `remember`, `recall` and `forget`: what an agent keeps between its runs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "praxis/memory/database_client.hpp"
#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct MemoryToolOptions {
  std::string collection = "notes";                   ///< the only collection that the tools write
  std::size_t max_text = std::size_t{64} * 1024;      ///< bytes of one note
  std::size_t max_recalled = std::size_t{16} * 1024;  ///< bytes of all notes that one call returns
  /// A further collection, which `recall` reads and no tool writes. Empty: none.
  std::string documents = {};
};

/// Stores a text under a key, or under a new one, with optional tags, the agent and the session. A call in
/// doubt after a crash is made again and changes the memory once. Not safe by default: runs only if a rule
/// allows it. Reports the change.
Tool remember_tool(std::shared_ptr<DatabaseClient> memory, MemoryToolOptions options = {});
/// Finds notes by words, or reads one by its key. The result says first that it is data. Safe by default.
Tool recall_tool(std::shared_ptr<DatabaseClient> memory, MemoryToolOptions options = {});
/// Removes a note from the memory and its files; what the logs of runs have of it stays there. Not safe by
/// default. Reports the change.
Tool forget_tool(std::shared_ptr<DatabaseClient> memory, MemoryToolOptions options = {});
/// All three.
std::vector<Tool> memory_tools(const std::shared_ptr<DatabaseClient>& memory,
                               const MemoryToolOptions& options = {});

}  // namespace praxis
#pragma GCC visibility pop
