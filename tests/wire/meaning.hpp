// The meaning of a request, independent of its encoding: equal lists for bodies that mean the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis::wire {

/// Returns the conversation of a request body in the protocol `api`: one object per part, `{role, ...}` with
/// `text`, `reasoning`, `call`, `result`, `image`, `file`, or `item` for what only the vendor understands,
/// and its seal.
std::vector<Json> entries_of(std::string_view api, const Json& body);

/// Returns the tools that a request declares, each `{name, description, parameters}`, sorted by name.
std::vector<Json> tools_of(std::string_view api, const Json& body);

struct Comparison {
  std::vector<std::string> differences;  ///< where our request differs in meaning from the recorded one
  std::vector<std::string>
      additions;  ///< the vendor's own state that we return and the recorded client did not
};
Comparison compare_requests(std::string_view api, const Json& ours, const Json& recorded);

}  // namespace praxis::wire
