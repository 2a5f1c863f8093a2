// Many tools at low cost: their definitions are not sent to the model until it has found them with the tool
// `search_tools`. What it found follows from the conversation, so that a resumed session and a replay offer
// the same list.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/runtime/agent.hpp"

namespace praxis {

inline constexpr const char* kSearchTools = "search_tools";

/// Whether so many tools are found by a search instead of being sent.
bool exceeds(const std::vector<Tool>& tools, const ToolSearch& bounds);
/// The tools that fit a query best, at most `limit`, the best first: by BM25 over the words of their names
/// and descriptions; of equal ones the first in the list.
std::vector<const Tool*> find_tools(const std::vector<Tool>& all, std::string_view query, std::size_t limit);
/// The tool that finds the others. Its definition depends on the servers only (the part of the names before
/// `__`), so that it stays as it is when a list grows.
Tool search_tools_tool(std::shared_ptr<const std::vector<Tool>> all);
/// The names that the results of `search_tools` in a conversation give, in their order.
std::vector<std::string> found_tools(const History& conversation);

}  // namespace praxis
