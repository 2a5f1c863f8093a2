// Parses durations as users write them in files and on the command line.
#pragma once

#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Parses `500ms`, `30s`, `1.5h`, `30d`, `1h30m`: from one millisecond to one year. Error `kInput`.
Result<Millis> parse_duration(std::string_view text);

}  // namespace praxis
#pragma GCC visibility pop
