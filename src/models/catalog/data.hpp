// The tables of share/praxis, embedded into read-only data at build time, so that nothing is read or parsed
// at start.
#pragma once

#include <string_view>

namespace praxis {

/// One model per line (JSON), sorted by bytes; each line starts with `{"provider":"ID","id":"ID"`.
std::string_view catalog_lines();
/// One provider per line (JSON).
std::string_view provider_lines();

/// The lines that start with `prefix`; `lines` must be sorted. Empty if no line matches.
std::string_view lines_beginning(std::string_view lines, std::string_view prefix);
/// Removes the first line from `lines` and returns it, without its newline.
std::string_view take_line(std::string_view& lines);

}  // namespace praxis
