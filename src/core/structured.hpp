// Answers that have to fit a JSON Schema.
#pragma once

#include <optional>
#include <string_view>

#include "praxis/core/next.hpp"

namespace praxis {

/// The JSON value of an answer, with or without a code fence around it. Error `kModel`: it is no JSON or does
/// not fit; `detail` has the kind `invalid_output`, and path and expectation of the first misfit.
Result<Json> structured_answer(const Json& schema, std::string_view text);

/// What is left to do about a final answer of the turn: correct it, end the turn, or nothing when it fits.
std::optional<Decision> check_output(const State& state);

}  // namespace praxis
