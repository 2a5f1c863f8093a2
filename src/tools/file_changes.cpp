#include "tools/file_changes.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace praxis {
namespace {

/// The folders of `FileRoots::list`. A folder with ", " in its name is not found again; then there is no
/// change to show.
std::vector<std::string> listed_folders(std::string_view text) {
  constexpr std::string_view kBetween = ", ";
  std::vector<std::string> folders;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kBetween), text.size());
    folders.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + kBetween.size(), text.size()));
  }
  return folders;
}

}  // namespace

std::optional<Result<FileChange>> file_change(const ToolDefinition& tool, const Json& arguments) {
  struct Kind {
    std::string_view name, description;
    Result<FileChange> (*change)(const FileRoots&, const Json&);
  };
  for (const Kind& kind : {Kind{"file_write", kFileWriteDescription, written_change},
                           Kind{"edit", kEditDescription, edited_change}}) {
    const std::string_view description = tool.description;
    if (tool.name != kind.name || !description.starts_with(kind.description)) continue;
    const auto folders = listed_folders(description.substr(kind.description.size()));
    return kind.change(FileRoots(folders), arguments);
  }
  return std::nullopt;
}

}  // namespace praxis
