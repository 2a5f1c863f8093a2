// Keeps what hooks before a turn make of a description within what it allowed before.
#pragma once

#include <string>

#include "praxis/domain/agent_spec.hpp"

namespace praxis {

/// Restores in `after` what a hook cannot change, and narrows its rules and limits to those of `before`.
/// Returns the names of the members that had to be changed back, separated by commas; empty if there are
/// none.
std::string narrow(const AgentSpec& before, AgentSpec& after);

}  // namespace praxis
