#include "app/memory_table.hpp"

#include <string>
#include <utility>

#include "praxis/runtime/memory_tools.hpp"

namespace praxis::app {

Result<std::vector<Tool>> tools_of_memory(const TomlDocument& document, const AgentFileOptions& options) {
  constexpr const char* kTable = "tools.memory";
  const Json& table = document.at(kTable);
  if (table.is_null()) return std::vector<Tool>{};
  const auto mistake = [&](const std::string& text) { return document.mistake(kTable, text); };
  if (!options.memory) return mistake("this program provides no memory for agents");
  const auto memory = options.memory();
  if (!memory) return mistake(memory.error().message);
  MemoryToolOptions of_tools;
  of_tools.collection = json_string(table, "collection", of_tools.collection);
  if (of_tools.collection.find('@') != std::string::npos)
    return mistake("a collection must not contain \"@\", which precedes the folder of a project");
  if (!options.within.empty()) of_tools.collection += '@' + options.within;
  if (json_bool(table, "write")) return memory_tools(*memory, of_tools);
  return std::vector<Tool>{recall_tool(*memory, of_tools)};
}

}  // namespace praxis::app
