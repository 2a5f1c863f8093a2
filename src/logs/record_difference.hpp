// In which field two records differ.
#pragma once

#include <cstdint>

#include "praxis/core/records.hpp"
#include "praxis/json/json.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis {

/// The JSON form of a record, with payloads above the threshold as their digests. Error `kInternal`.
Result<Json> comparable_json(const RecordBody& body);
/// The first key in which two JSON objects differ; they do.
Divergence first_difference(std::uint64_t seq, const Json& expected, const Json& found);

}  // namespace praxis
