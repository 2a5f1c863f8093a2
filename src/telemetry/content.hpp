// Messages, arguments and results as attributes of spans.
#pragma once

#include <string>
#include <vector>

#include "praxis/core/history.hpp"
#include "praxis/domain/model_types.hpp"
#include "telemetry/span.hpp"

namespace praxis::telemetry {

/// Text as an attribute: redacted, and cut after the most bytes that the question allows.
std::string content_text(const SpanQuestion& question, std::string text);
/// A conversation as the conventions write it, as the text of a JSON array: `[{role, parts: [...]}]`. Leaves
/// out the first messages if it would be too long. Media are named, not included.
std::string messages_text(const SpanQuestion& question, const std::vector<MessagePtr>& messages);
/// An answer in the same form, with `finish_reason`.
std::string answer_text(const SpanQuestion& question, const ModelResponse& answer);

}  // namespace praxis::telemetry
