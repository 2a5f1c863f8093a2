// The tools of agents whose list of tools may change (`Agent::tools_from`).
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

/// The agent's own tools, then those that its sources gave.
Result<ToolSet> gather(const ToolSet& own, const std::vector<std::vector<Tool>>& given) {
  ToolSet tools = own;
  for (const std::vector<Tool>& each : given) {
    for (const Tool& tool : each) {
      if (auto added = tools.add(tool); !added) return fail(std::move(added.error()));
    }
  }
  return tools;
}

std::vector<ToolSpec> specs_of(const ToolSet& tools) {
  std::vector<ToolSpec> specs;
  for (const Tool& tool : tools.tools()) specs.push_back(spec_of(tool));
  return specs;
}

}  // namespace

std::shared_ptr<const ToolSet> SessionActor::tools() const {
  if (agent_->tool_sources.empty()) return {agent_, &agent_->tools};
  const std::lock_guard lock(tools_mutex_);
  return tools_ ? tools_ : std::shared_ptr<const ToolSet>(agent_, &agent_->tools);
}

/// The tools for a call that the model has made. After a restart the sources are asked here first.
std::shared_ptr<const ToolSet> SessionActor::tools_for_call() {
  const auto asked = [this] {
    const std::lock_guard lock(tools_mutex_);
    return tools_ != nullptr;
  };
  if (!agent_->tool_sources.empty() && !asked()) ask_tool_sources();
  return tools();
}

/// Asks each source. One that fails is reported, and keeps the tools that it gave last. False when the tools
/// cannot be in one list, which is reported.
bool SessionActor::ask_tool_sources() {
  const std::vector<ToolSource>& sources = agent_->tool_sources;
  std::vector<std::vector<Tool>> given;
  {
    const std::lock_guard lock(tools_mutex_);
    given = given_;
  }
  given.resize(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) run_hook("tool_source", [&] { given[i] = sources[i](); });
  auto gathered = gather(agent_->tools, given);
  if (!gathered) {
    post_input(driver::HookThrew{"tool_source", gathered.error().message});
    return false;
  }
  auto tools = std::make_shared<const ToolSet>(*std::move(gathered));
  const std::lock_guard lock(tools_mutex_);
  tools_ = std::move(tools);
  given_ = std::move(given);
  return true;
}

/// The description with the tools that there are now; null when they are the recorded ones.
AgentSpecPtr SessionActor::tools_of_sources() {
  const AgentSpecPtr before = query([](const State& s) { return s.agent; });
  if (!before || !ask_tool_sources()) return nullptr;
  auto after = std::make_shared<AgentSpec>(*before);
  after->tools = specs_of(*tools());
  return to_json(*after) == to_json(*before) ? nullptr : after;
}

}  // namespace praxis
