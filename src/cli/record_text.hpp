// Describes records for humans.
#pragma once

#include <string>

#include "praxis/core/records.hpp"

namespace praxis::cli {

/// The content of the record, without its kind, on one line of harmless text.
std::string record_text(const RecordBody& body);

}  // namespace praxis::cli
