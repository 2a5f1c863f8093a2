#include "evals/recorded_agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace praxis::evals {
namespace {

/// Runs a call by the first server that has the tool. A server that cannot be reached has no tools.
ToolHandler handler_of_servers(std::vector<ToolSource> servers, std::string name) {
  return [servers = std::move(servers), name = std::move(name)](ToolContext& context,
                                                                const Json& arguments) -> Result<ToolOutput> {
    std::string why = "no server offers the tool";
    for (const ToolSource& server : servers) {
      try {
        const std::vector<Tool> tools = server();
        const auto found =
            std::ranges::find_if(tools, [&](const Tool& tool) { return tool.definition.name == name; });
        if (found != tools.end()) return found->handler(context, arguments);
      } catch (const std::exception& unreachable) {
        why = unreachable.what();
      }
    }
    return fail(ErrorCode::kTool, ErrorKind::kNotFound, fmt::format("{} cannot run: {}", name, why));
  };
}

/// A tool of a server as a request offered it. Its recorded calls do not run.
Tool offered_tool(const ToolSpec& spec, const std::vector<ToolSource>& servers) {
  Tool tool{.definition = spec.definition, .handler = handler_of_servers(servers, spec.definition.name)};
  tool.retries = spec.retries;
  tool.retry_delay = spec.retry_delay;
  tool.fatal_errors = spec.fatal_errors;
  tool.result_from = spec.result_from;
  return tool;
}

Tool without_delay(Tool tool, const IsLive& is_live) {
  if (!is_live(tool.definition.name)) tool.retry_delay = Millis{0};
  return tool;
}

/// What servers offered before each recorded request, beside the agent's own tools.
ToolSource recorded_offers(const AgentDescription& own, const std::vector<LoggedRequest>& requests,
                           const IsLive& is_live) {
  std::vector<std::vector<Tool>> offers;
  for (const LoggedRequest& request : requests) {
    std::vector<Tool>& offer = offers.emplace_back();
    for (const ToolSpec& spec : request.agent->tools) {
      if (own.spec.find_tool(spec.definition.name) == nullptr)
        offer.push_back(without_delay(offered_tool(spec, own.tool_sources), is_live));
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
  AgentSpec spec = description.spec;
  spec.tools.clear();
  Agent recorded(std::move(spec));
  for (const Tool& tool : description.tools.tools()) recorded.use(without_delay(tool, is_live));
  recorded.hooks(description.hooks);
  for (const auto& [pattern, handler] : description.handlers) recorded.on(pattern, handler);
  if (description.model) recorded.model(description.model);
  if (description.executor) recorded.executor(description.executor);
  if (description.instructions) recorded.instructions(description.instructions);
  if (description.tool_sources.empty()) return recorded;
  recorded.search_tools_beyond(
      {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max()});
  return recorded.tools_from(recorded_offers(description, requests, is_live));
}

}  // namespace praxis::evals
