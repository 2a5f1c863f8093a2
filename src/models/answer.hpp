// What holds for every answer, whoever the vendor: which tool calls may run, how the turn ended, what it cost
// when nobody says.
#pragma once

#include <string>
#include <string_view>

#include "praxis/models/model.hpp"

namespace praxis {

/// The text of a tool call's arguments as JSON: empty, white space and `null` become `{}`, the rest stays.
std::string_view arguments_or_empty(std::string_view arguments);

/// Settles a complete answer whose `finish` is what the vendor said: a call stays valid only when it has
/// a name, its arguments parse and the turn was not cut short, filtered or malformed; a turn that stopped for
/// its calls finished with `kToolCalls`, or `kMalformedToolCall` when none of them is valid; one that refused
/// with `kRefusal`.
void settle_answer(ModelResponse& response);

/// Usage for vendors that report none: the answer by the estimator, after `input` tokens.
Usage estimate_usage(std::int64_t input, const std::vector<Part>& answer);

}  // namespace praxis
