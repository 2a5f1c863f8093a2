// The tools by which the members of a team hand the conversation over to each other.
#pragma once

#include <string>

namespace praxis {

/// The name of the tool that hands over to the member `id`.
inline std::string handoff_tool_name(const std::string& id) { return "hand_over_to_" + id; }

}  // namespace praxis
