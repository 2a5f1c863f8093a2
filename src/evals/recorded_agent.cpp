#include "evals/recorded_agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/server_tools.hpp"

namespace praxis::evals {
namespace {

Error cannot_run(const std::string& tool, std::string_view why) {
  return make_error(ErrorCode::kTool, ErrorKind::kNotFound, fmt::format("{} cannot run: {}", tool, why));
}

/// The tool as its server offers it now. Starts the server if it does not run.
Result<Tool> tool_now(const ToolSource& server, const std::string& name) {
  std::vector<Tool> tools;
  try {
    tools = server();
  } catch (const std::exception& unreachable) {
    return fail(cannot_run(name, unreachable.what()));
  }
  const auto found = std::ranges::find(tools, name, [](const Tool& tool) { return tool.definition.name; });
  if (found == tools.end()) return fail(cannot_run(name, "its server offers it no longer"));
  return std::move(*found);
}

/// Runs calls at the server. The call was judged by the recorded definition; it waits for an approval if the
/// present one needs it.
ToolHandler handler_at(ToolSource server, ToolDefinition recorded) {
  return [server = std::move(server), recorded = std::move(recorded)](
             ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
    const auto now = tool_now(server, recorded.name);
    if (!now) return fail(now.error());
    if (now->definition.needs_approval && !recorded.needs_approval)
      return fail_authorisation(fmt::format(
          "{} changed at its server since it was accepted (praxis mcp list shows it)", recorded.name));
    return now->handler(context, arguments);
  };
}

ToolHandler no_handler(std::string name) {
  return [name = std::move(name)](ToolContext&, const Json&) -> Result<ToolOutput> {
    return fail(cannot_run(name, "only live tools of servers run in a replay"));
  };
}

/// The server that has the tool; null if it is not from a server.
const app::ServerTools* server_of(const std::vector<ToolSource>& sources, std::string_view tool) {
  for (const ToolSource& source : sources) {
    const auto* const server = source.target<app::ServerTools>();
    if (server != nullptr && tool.starts_with(server->prefix)) return server;
  }
  return nullptr;
}

/// A tool of a server as a request offered it.
Tool offered_tool(const ToolSpec& spec, const std::vector<ToolSource>& sources, const IsLive& is_live) {
  const std::string& name = spec.definition.name;
  const app::ServerTools* const server = is_live(name) ? server_of(sources, name) : nullptr;
  Tool tool{.definition = spec.definition,
            .handler = server != nullptr ? handler_at(*server, spec.definition) : no_handler(name)};
  tool.retries = spec.retries;
  tool.retry_delay = spec.retry_delay;
  tool.fatal_errors = spec.fatal_errors;
  tool.result_from = spec.result_from;
  return tool;
}

/// What servers offered before each recorded request, in addition to the agent's own tools.
ToolSource recorded_offers(const AgentDescription& own, const std::vector<LoggedRequest>& requests,
                           const IsLive& is_live) {
  std::vector<std::vector<Tool>> offers;
  for (const LoggedRequest& request : requests) {
    std::vector<Tool>& offer = offers.emplace_back();
    for (const ToolSpec& spec : request.agent->tools) {
      if (own.spec.find_tool(spec.definition.name) == nullptr)
        offer.push_back(offered_tool(spec, own.tool_sources, is_live));
    }
  }
  if (offers.empty()) offers.emplace_back();
  return [offers = std::move(offers), next = std::make_shared<std::atomic<std::size_t>>(0)] {
    return offers[std::min(next->fetch_add(1), offers.size() - 1)];
  };
}

}  // namespace

Agent recorded_agent(const Agent& agent, const std::vector<LoggedRequest>& requests, const IsLive& is_live) {
  const AgentDescription& description = *agent.description();
  if (description.tool_sources.empty()) return agent;
  AgentSpec spec = description.spec;
  spec.tools.clear();
  Agent recorded(std::move(spec));
  recorded.use(description.tools.tools());
  recorded.hooks(description.hooks);  // with that of an instruction source
  for (const auto& [pattern, handler] : description.handlers) recorded.on(pattern, handler);
  if (description.model) recorded.model(description.model);
  if (description.executor) recorded.executor(description.executor);
  recorded.search_tools_beyond(
      {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max()});
  return recorded.tools_from(recorded_offers(description, requests, is_live));
}

}  // namespace praxis::evals
