// The tables of share/praxis as they were when the program was built: a part of its read-only data, so that
// nothing is read or parsed at start.
#pragma once

#include <string_view>

namespace praxis {

/// One model a line (JSON), sorted as bytes; each line of a model begins `{"provider":"ID","id":"ID"`.
std::string_view catalog_lines();
/// One provider a line (JSON).
std::string_view provider_lines();

/// Those of the sorted `lines` that begin with `prefix`, which stand together; empty when there are none.
std::string_view lines_beginning(std::string_view lines, std::string_view prefix);
/// Takes the first line off `lines`, without its end.
std::string_view take_line(std::string_view& lines);

}  // namespace praxis
