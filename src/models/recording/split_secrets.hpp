// Masks secrets that a streamed answer brings in pieces, one in each event.
#pragma once

#include <string>
#include <string_view>

#include "redact/redaction.hpp"

namespace praxis {

/// Returns `body`, a stream of events or of JSON lines, without secrets whose pieces are in the same member
/// of successive lines. A line that holds such a piece is written again; all others keep their bytes.
std::string without_secrets_across_lines(std::string_view body, const redact::Redaction& redaction);

}  // namespace praxis
