#include "app/tools_of_client.hpp"

#include <utility>

namespace praxis::app {
namespace {

Result<ToolOutput> not_run_here(ToolContext& /*context*/, const Json& /*arguments*/) {
  return fail(ErrorCode::kTool, "only the client that brought this tool can run it");
}

bool is_external(const ToolSpec& tool) { return tool.result_from == ResultFrom::kClient; }

}  // namespace

Status add_external_tools(Agent& agent, std::vector<ToolDefinition> tools) {
  for (ToolDefinition& definition : tools) {
    if (auto checked = check(definition); !checked) return checked;
    if (agent.spec().find_tool(definition.name) != nullptr)
      return fail(ErrorCode::kInput, "the agent has a tool \"" + definition.name + "\" of its own");
    definition.timeout = {};
    definition.safe_by_default = true;  // the client decides whether it runs the call
    definition.idempotent = true;
    Tool tool;
    tool.definition = std::move(definition);
    tool.handler = not_run_here;
    tool.result_from = ResultFrom::kClient;
    agent.use(std::move(tool));
  }
  return {};
}

Status keep_external_tools(Agent& agent, const AgentSpec& recorded) {
  std::vector<ToolDefinition> tools;  // in the order in which the client gave them
  for (const ToolSpec& tool : recorded.tools) {
    if (is_external(tool) && agent.spec().find_tool(tool.definition.name) == nullptr)
      tools.push_back(tool.definition);
  }
  return add_external_tools(agent, std::move(tools));
}

std::set<std::string> external_tools_of(const AgentSpec& agent) {
  std::set<std::string> names;
  for (const ToolSpec& tool : agent.tools) {
    if (is_external(tool)) names.insert(tool.definition.name);
  }
  return names;
}

}  // namespace praxis::app
