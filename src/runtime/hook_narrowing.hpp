// Keeps what hooks make of a description before a turn, or of a request before a model call, within what was
// allowed before.
#pragma once

#include <string>

#include "praxis/domain/agent_spec.hpp"
#include "praxis/runtime/hooks.hpp"

namespace praxis {

/// Restores in `after` what a hook cannot change, and narrows its rules and limits to those of `before`.
/// Returns the names of the members that had to be changed back, separated by commas; empty if there are
/// none.
std::string narrow(const AgentSpec& before, AgentSpec& after);

/// Adds what a hook makes of a request to `patch`, as far as it stays within the agent's `tools` and
/// `models`. Returns why a change was left out, one sentence each; empty if all of it counts.
std::string adopt(RequestPatch& patch, ModelHookResult& result, const std::vector<ToolSpec>& tools,
                  std::string_view models);

}  // namespace praxis
