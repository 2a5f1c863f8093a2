// Asks the user whether a run continues with files of its agent that changed.
#pragma once

#include <functional>
#include <string>

#include "app/agent_sources.hpp"
#include "cli/console.hpp"

namespace praxis::cli {

/// Shows a change on standard error. Accepts it if `digest` (`--accept-agent`) names it or, without a digest,
/// if the user says so at the terminal; otherwise error `kInput`, with the flag that would accept it.
std::function<Status(const app::AgentChange&)> agent_acceptance(const std::string& digest, Console& console);

}  // namespace praxis::cli
