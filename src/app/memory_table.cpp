#include "app/memory_table.hpp"

#include <string>
#include <utility>

#include "praxis/runtime/memory_recall.hpp"
#include "praxis/runtime/memory_tools.hpp"

namespace praxis::app {
namespace {

constexpr const char* kMemoryTable = "tools.memory";

/// The collections of an agent, which are apart for each folder that agents are bounded to.
MemoryToolOptions collections_of(const Json& table, const AgentFileOptions& options) {
  MemoryToolOptions of_tools;
  of_tools.collection = json_string(table, "collection", of_tools.collection);
  of_tools.documents = json_string(table, "documents");
  if (options.within.empty()) return of_tools;
  of_tools.collection += '@' + options.within;
  if (!of_tools.documents.empty()) of_tools.documents += '@' + options.within;
  return of_tools;
}

}  // namespace

Result<std::vector<Tool>> tools_of_memory(const TomlDocument& document, const AgentFileOptions& options) {
  const Json& table = document.at(kMemoryTable);
  if (table.is_null()) return std::vector<Tool>{};
  const auto mistake = [&](const std::string& text) { return document.mistake(kMemoryTable, text); };
  if (!options.memory) return mistake("this program provides no memory for agents");
  const auto memory = options.memory();
  if (!memory) return mistake(memory.error().message);
  for (const char* name : {"collection", "documents"}) {
    if (json_string(table, name).find('@') != std::string::npos)
      return mistake("a collection must not contain \"@\", which precedes the folder of a project");
  }
  const MemoryToolOptions of_tools = collections_of(table, options);
  if (json_bool(table, "write")) return memory_tools(*memory, of_tools);
  return std::vector<Tool>{recall_tool(*memory, of_tools)};
}

void add_automatic_recall(Agent& agent, const TomlDocument& document, const AgentFileOptions& options) {
  const Json& table = document.at(kMemoryTable);
  if (!json_bool(table, "automatic")) return;
  const auto memory = options.memory();
  if (!memory) return;
  const MemoryToolOptions of_tools = collections_of(table, options);
  MemoryRecallOptions recall;
  recall.collections = {of_tools.collection};
  if (!of_tools.documents.empty()) recall.collections.push_back(of_tools.documents);
  agent.on_outgoing_message(memory_recall_hook(*memory, std::move(recall)));
}

}  // namespace praxis::app
