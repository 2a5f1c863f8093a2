// Decisions of content filters about messages that are sent into a run.
#pragma once

#include "praxis/core/records.hpp"

namespace praxis {

/// Whether the decision is about no step and no call, but about the message that follows it in the log, or
/// that was denied and is not in the log.
inline bool is_about_message(const records::Decided& decided) {
  return decided.park.empty() && decided.call.empty() && decided.author.surface == Surface::kPolicy;
}

}  // namespace praxis
