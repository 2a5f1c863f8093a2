// Tools that read and write files inside given folders. The kernel enforces the bounds: no `..`, symbolic
// link or race with a rename leads outside, and links inside are not followed either.
#pragma once

#include <string>
#include <vector>

#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// What bounds a file tool further. All paths are absolute.
struct FileBounds {
  /// No root is reached through a link below one of these folders or below another root, and a root that
  /// becomes another folder later is refused: programs that may write there cannot lead the tool elsewhere.
  std::vector<std::string> no_links_below;
  /// Files and folders that are never written (`protect`), as what `Sandbox` always protects in a root, and
  /// that are neither read nor written (`hide`), as files named `.env` and `.env.*`.
  std::vector<std::string> protect, hide;
  std::shared_ptr<class EditorFiles> editor = {};  ///< what an editor has open; null: the disk alone
};

// The roots of both tools are folders, or single files that exist when the tool is made: such a file is not
// protected, unless `FileBounds` lists it.

/// `file_read`: operations `read` (text from a byte offset; decompresses gzip; reports binary files as such),
/// `list` and `search` (RE2, over all files below a folder). Paths are absolute inside a root, or relative to
/// the first root in which they exist. An empty `roots` permits no files. Safe by default, because the roots
/// bound what it can read; idempotent.
Tool file_read_tool(std::vector<std::string> roots, FileBounds bounds = {});

/// `file_write`: creates or replaces a whole file, and creates missing folders. Writes are atomic and
/// durable: a reader or a crash sees either the old or the new content. Relative paths refer to the first
/// root. Not safe by default; idempotent, because a repetition writes the same bytes.
Tool file_write_tool(std::vector<std::string> roots, FileBounds bounds = {});

}  // namespace praxis
#pragma GCC visibility pop
