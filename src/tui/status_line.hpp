// The status line of a chat that no program of the user's draws.
#pragma once

#include <string>

#include "tui/status_facts.hpp"

namespace praxis::tui {

/// What the agent does, model, context, cost, what waits, agents at work, folder and branch, in at most
/// `facts.columns`. Parts that do not fit are left out whole, the least important first. `place`: with an
/// empty folder it is left out. Safe to print.
std::string status_line(const StatusFacts& facts, const StatusPlace& place);

}  // namespace praxis::tui
