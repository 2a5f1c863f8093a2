// Checks answers against a JSON Schema.
#pragma once

#include <optional>
#include <string_view>

#include "praxis/core/next.hpp"

namespace praxis {

/// Returns the JSON value of an answer, with or without a code fence around it. Error `kModel`: the answer is
/// not JSON or does not match the schema; `detail` has the kind `invalid_output`, and path and expectation of
/// the first mismatch.
Result<Json> structured_answer(const Json& schema, std::string_view text);

/// Decides about a final answer of the turn: a correction, the end of the turn, or `std::nullopt` if it
/// matches.
std::optional<Decision> check_output(const State& state);

}  // namespace praxis
