#include "app/tools_of_client.hpp"

#include <utility>

namespace praxis::app {
namespace {

constexpr const char* kExternalTools = "external_tools";  // in the metadata of the agent

Result<ToolOutput> not_run_here(ToolContext& /*context*/, const Json& /*arguments*/) {
  return fail(ErrorCode::kTool, "only the client that brought this tool can run it");
}

}  // namespace

Status add_external_tools(Agent& agent, std::vector<ToolDefinition> tools) {
  JsonArray names;
  for (ToolDefinition& definition : tools) {
    if (auto checked = check(definition); !checked) return checked;
    if (agent.spec().find_tool(definition.name) != nullptr)
      return fail(ErrorCode::kInput, "the agent has a tool \"" + definition.name + "\" of its own");
    names.emplace_back(definition.name);
    // Calls of a tool whose schema names its arguments, and no question among them, are the client's to run.
    auto& schema = definition.parameters.get_object();
    if (!schema.contains("properties")) schema["properties"] = JsonObject{};
    definition.timeout = {};
    definition.safe_by_default = true;  // the client decides whether it runs the call
    definition.idempotent = true;
    Tool tool;
    tool.definition = std::move(definition);
    tool.handler = not_run_here;
    tool.asks_person = true;
    agent.use(std::move(tool));
  }
  if (names.empty()) return {};
  JsonObject metadata = agent.spec().metadata.is_object() ? agent.spec().metadata.get_object() : JsonObject{};
  metadata[kExternalTools] = std::move(names);
  agent.metadata(std::move(metadata));
  return {};
}

Status keep_external_tools(Agent& agent, const AgentSpec& recorded) {
  std::vector<ToolDefinition> tools;  // in the order in which the client gave them
  const auto names = external_tools_of(recorded);
  for (const ToolSpec& tool : recorded.tools) {
    const std::string& name = tool.definition.name;
    if (names.contains(name) && agent.spec().find_tool(name) == nullptr) tools.push_back(tool.definition);
  }
  return add_external_tools(agent, std::move(tools));
}

std::set<std::string> external_tools_of(const AgentSpec& agent) {
  std::set<std::string> names;
  if (const auto* list = json_at(agent.metadata, kExternalTools).if_array()) {
    for (const Json& name : *list) {
      if (name.is_string()) names.insert(to_plain_text(name));
    }
  }
  return names;
}

}  // namespace praxis::app
