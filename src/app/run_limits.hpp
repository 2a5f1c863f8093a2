// The limits of a turn that the configuration and the flags give.
#pragma once

#include <set>
#include <string>

#include "praxis/app/config.hpp"
#include "praxis/domain/agent_spec.hpp"

namespace praxis::app {

/// Limits of a new run: those of its agent, which a flag replaces and other layers of `config` only tighten,
/// unless the agent has the default.
Limits limits_of_run(Limits limits, const Config& config);
/// Limits of a resumed run: those that it records, replaced by the settings `keys` of `config`.
Limits limits_replaced(Limits limits, const Config& config, const std::set<std::string>& keys);

}  // namespace praxis::app
