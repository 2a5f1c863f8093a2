// Durations as people write them.
#pragma once

#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"

namespace praxis {

/// `500ms`, `30s`, `5m`, `1.5h`: at least a millisecond, at most a year. Error `kInput`.
Result<Millis> parse_duration(std::string_view text);

}  // namespace praxis
