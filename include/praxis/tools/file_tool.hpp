// Tools that read and write files inside given folders. The kernel enforces the bounds: no `..`, symbolic
// link or race with a rename leads outside, and links inside are not followed either.
#pragma once

#include <string>
#include <vector>

#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// `file_read`: operations `read` (text from a byte offset; decompresses gzip; reports binary files as such),
/// `list` and `search` (RE2, over all files below a folder). Paths are absolute inside a root, or relative to
/// the first root in which they exist. An empty `roots` permits no files. Safe by default, because the roots
/// bound what it can read; idempotent.
Tool file_read_tool(std::vector<std::string> roots);

/// `file_write`: creates or replaces a whole file, and creates missing folders. Writes are atomic and
/// durable: a reader or a crash sees either the old or the new content. Relative paths refer to the first
/// root. Not safe by default; idempotent, because a repetition writes the same bytes.
Tool file_write_tool(std::vector<std::string> roots);

}  // namespace praxis
#pragma GCC visibility pop
