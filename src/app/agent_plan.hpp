#pragma once

#include <functional>
#include <string>

#include "app/toml_document.hpp"
#include "praxis/base/result.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

/// Returns the plan that an agent file writes in `[[plan]]` or chooses with `planner`, as `AgentSpec::plan`
/// holds it; null for neither. `spec` is what the file says besides. `check_tool` gets the place of each tool
/// that a step names, and fails when the agent has none of this name. Errors name place, line and column.
Result<Json> plan_of(
    const TomlDocument& document, const AgentSpec& spec,
    const std::function<Status(const std::string& place, const std::string& tool)>& check_tool);

}  // namespace praxis::app
