// Records in words, for people.
#pragma once

#include <string>

#include "praxis/core/records.hpp"

namespace praxis::cli {

/// What the record says, without its kind and on one line of harmless text.
std::string record_text(const RecordBody& body);

}  // namespace praxis::cli
