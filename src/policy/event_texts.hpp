// Redacts the texts of events and results, as observers and callers see them.
#pragma once

#include "praxis/core/event.hpp"
#include "praxis/core/report.hpp"
#include "redact/redaction.hpp"

namespace praxis {

/// Redacts the texts of `event`; ids, digests and what vendors want back stay. A delta is redacted as a text
/// of its own: pieces of a stream go through `Redaction::stream`.
void redact_event(Event& event, const redact::Redaction& redaction);
/// The same for the result of a turn.
void redact_result(AgentResult& result, const redact::Redaction& redaction);

}  // namespace praxis
