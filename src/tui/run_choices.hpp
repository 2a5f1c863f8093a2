// The runs of a journal as a list to search.
#pragma once

#include <vector>

#include "praxis/base/time.hpp"
#include "praxis/journal/journal.hpp"
#include "tui/choice_list.hpp"

namespace praxis::tui {

/// The runs as choices, the newest first, at most 10,000. Their values are ids; they are found by name,
/// title, agent, status, tag and id. Sub-agents and runs without a record are left out.
std::vector<Choice> run_choices(const std::vector<SessionRow>& rows, UnixMillis now);

}  // namespace praxis::tui
