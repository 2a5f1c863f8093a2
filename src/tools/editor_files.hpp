// Files as an editor has them, with changes that the user has not saved. The file tools use them if an editor
// runs the agent. Which files a tool reaches is decided before, by its roots, as without an editor.
#pragma once

#include <optional>
#include <string>

#include "praxis/base/result.hpp"
#include "praxis/tools/tool.hpp"
#include "tools/file_roots.hpp"

namespace praxis {

/// The files of an editor. Paths are absolute and without links. Thread-safe; calls wait for the editor.
class EditorFiles {
 public:
  virtual ~EditorFiles() = default;
  /// The text of a file. `std::nullopt`: the editor does not give it, so the disk has it. Error `kCancelled`,
  /// not sent: the call was stopped, or the editor has gone.
  virtual Result<std::optional<std::string>> read(const ToolContext& context, const std::string& path) = 0;
  /// Replaces the text of a file that `read` gave. False: the editor writes no files, so the tool does.
  /// Errors: `kTool`, what the editor answered; `kCancelled`, sent: no answer came.
  virtual Result<bool> write(const ToolContext& context, const std::string& path,
                             const std::string& text) = 0;
};

/// The text that the editor has of a file; `std::nullopt` as `EditorFiles::read`, and without an editor. The
/// caller has opened the file at `place`. Errors: as `EditorFiles::read`; `kTool`: longer than 8 MiB, or the
/// path leads elsewhere by now.
Result<std::optional<std::string>> text_in_editor(const FileRoots& roots, const ToolContext& context,
                                                  const FilePlace& place);

/// Writes a file of which the editor has the text. As `EditorFiles::write`; false without an editor.
Result<bool> write_in_editor(const FileRoots& roots, const ToolContext& context, const FilePlace& place,
                             const std::string& text);

}  // namespace praxis
