// Tools for agents that work on source text: exact replacements, files by pattern, lines by regular
// expression. Inside given folders only, with the bounds of the file tools (praxis/tools/file_tool.hpp).
#pragma once

#include <string>
#include <vector>

#include "praxis/tools/file_tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// `edit`: replaces pieces of a text file exactly, all of them or none. Each piece must occur once, unless
/// the edit says `all`; if it does not, the error names the lines that come nearest. The file is replaced
/// atomically. Not safe by default; not idempotent, because the piece is gone after the first time.
Tool edit_tool(std::vector<std::string> roots, FileBounds bounds = {});

/// `glob`: the files below a folder whose path fits a pattern such as `src/**/*.cpp`, the newest first.
/// Leaves out `.git` and what `.gitignore` files exclude. Safe by default; idempotent.
Tool glob_tool(std::vector<std::string> roots, FileBounds bounds = {});

/// `grep`: the lines that match a regular expression (RE2) in the files below a folder, in order of their
/// names; leaves out the same files. Safe by default; idempotent.
Tool grep_tool(std::vector<std::string> roots, FileBounds bounds = {});

}  // namespace praxis
#pragma GCC visibility pop
