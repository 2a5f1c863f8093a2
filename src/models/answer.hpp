// Rules for the answers of all vendors: which tool calls may run, how the turn ended, and the estimated usage
// if the vendor reports none.
#pragma once

#include <string>
#include <string_view>

#include "praxis/models/model.hpp"

namespace praxis {

/// The arguments of a tool call as JSON text: empty text, white space and `null` become `{}`; anything else
/// is unchanged.
std::string_view arguments_or_empty(std::string_view arguments);

/// Finalises a complete answer whose `finish` is what the vendor reported. A call stays valid only if it has
/// a name, its arguments parse, and the answer was not cut short, filtered or malformed. If the vendor
/// reported a normal end: an answer with calls gets `kToolCalls`, or `kMalformedToolCall` if no call is
/// valid; an answer with a refusal gets `kRefusal`.
void settle_answer(ModelResponse& response);

/// Usage for vendors that report none: `input` tokens, and the answer's tokens as estimated.
Usage estimate_usage(std::int64_t input, const std::vector<Part>& answer);

}  // namespace praxis
