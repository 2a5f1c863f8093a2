// What a call of a tool that changes files would make of its file, for an approver. Changes nothing.
#pragma once

#include <optional>
#include <string>

#include "praxis/domain/tool_definition.hpp"
#include "praxis/json/json.hpp"
#include "tools/file_roots.hpp"

namespace praxis {

/// The content of a file now and after a call.
struct FileChange {
  std::string file;                   ///< absolute path
  std::optional<std::string> before;  ///< `std::nullopt`: the file does not exist
  std::string after;
};

/// How the descriptions of the tools begin; the folders follow.
extern const char* const kFileWriteDescription;
extern const char* const kEditDescription;

/// The change that a call of `file_write`, or of `edit`, would make now. Errors as the call would give, and
/// `kTool` if the present content is too long or not text.
Result<FileChange> written_change(const FileRoots& roots, const Json& arguments);
Result<FileChange> edited_change(const FileRoots& roots, const Json& arguments);

/// The change that a call of the tool would make now. `std::nullopt`: it is no tool of ours that changes
/// files. The folders are those that the tool's description names. Errors as above.
std::optional<Result<FileChange>> file_change(const ToolDefinition& tool, const Json& arguments);

}  // namespace praxis
