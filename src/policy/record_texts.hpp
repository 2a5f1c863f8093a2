// Redacts the texts of records, as people and clients are shown them.
#pragma once

#include "praxis/core/records.hpp"
#include "redact/redaction.hpp"

namespace praxis {

/// As `redact_event`. The record still follows those before it, but is not what was written.
void redact_record(RecordBody& record, const redact::Redaction& redaction);

}  // namespace praxis
