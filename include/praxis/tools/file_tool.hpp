// Reading and writing files inside given folders. The kernel enforces the bounds: no `..`, symbolic link or
// race with a rename leads outside, and links inside are not followed either.
#pragma once

#include <string>
#include <vector>

#include "praxis/tools/tool.hpp"

namespace praxis {

/// `file_read`: operations `read` (text from a byte offset; gzip is undone; binary files are named as such),
/// `list` and `search` (RE2 over all files below a folder). Paths are relative to a root, the first where
/// they exist, or absolute inside one; no roots means no files. Safe by default, since the roots say what may
/// be read; idempotent.
Tool file_read_tool(std::vector<std::string> roots);

/// `file_write`: creates or replaces a whole file with its folders, at once and durably: a reader or a crash
/// sees the old content or the new. Relative paths stand below the first root. Not safe by default;
/// idempotent, since the same bytes are written.
Tool file_write_tool(std::vector<std::string> roots);

}  // namespace praxis
