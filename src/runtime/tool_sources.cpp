// The tools of agents whose list of tools may change (`Agent::tools_from`).
#include <algorithm>
#include <iterator>
#include <utility>

#include "praxis/policy/policy.hpp"
#include "runtime/session_actor.hpp"
#include "runtime/tool_search.hpp"

namespace praxis {
namespace {

/// The agent's own tools, then those of its sources.
Result<ToolSet> gather(const ToolSet& own, const std::vector<Tool>& given) {
  ToolSet tools = own;
  for (const Tool& tool : given) {
    if (auto added = tools.add(tool); !added) return fail(std::move(added.error()));
  }
  return tools;
}

/// The names of the tools that follow the agent's own, in their order: those that the log has, then those
/// that the model has found since.
std::vector<std::string> order_of(const AgentSpec& recorded, const History& conversation) {
  std::vector<std::string> names;
  for (const ToolSpec& tool : recorded.tools) names.push_back(tool.definition.name);
  names.emplace_back(kSearchTools);
  std::ranges::move(found_tools(conversation), std::back_inserter(names));
  return names;
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

/// Of what the sources gave, the tools that requests have: all or, if these are too many, the search and what
/// the model has found. A session that searches continues to, so that its list only grows.
std::vector<Tool> SessionActor::offered_of_sources(const std::vector<std::vector<Tool>>& given) {
  auto all = std::make_shared<std::vector<Tool>>();
  for (const std::vector<Tool>& each : given) std::ranges::copy(each, std::back_inserter(*all));
  const auto [recorded, conversation] =
      query([](const State& s) { return std::pair(s.agent, s.conversation.history()); });
  const auto has = [](const auto& tools, std::string_view name) {
    return std::ranges::any_of(tools, [&](const auto& tool) { return tool.definition.name == name; });
  };
  const bool searches = recorded && !agent_->tools.find(kSearchTools) && has(recorded->tools, kSearchTools);
  if (!searches && (!recorded || !exceeds(*all, agent_->search))) return *all;
  const std::vector<PolicyRules> rules{policy_rules_from_json(agent_->spec.policy)};
  std::erase_if(*all, [&](const Tool& tool) { return denies(rules, tool.definition.name); });
  std::vector<Tool> offered;
  for (const std::string& name : order_of(*recorded, conversation)) {
    if (agent_->tools.find(name) != nullptr || has(offered, name)) continue;
    const auto tool =
        std::ranges::find_if(*all, [&](const Tool& each) { return each.definition.name == name; });
    if (tool != all->end()) offered.push_back(*tool);
    if (tool == all->end() && name == kSearchTools) offered.push_back(search_tools_tool(all));
  }
  return offered;
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
  auto gathered = gather(agent_->tools, offered_of_sources(given));
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
