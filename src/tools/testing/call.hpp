// Shared by this room's tests: calls a tool like a model does, and provides a temporary folder.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "praxis/tools/tool.hpp"

namespace praxis {

/// Runs `tool` with argument text, including the checks of a `ToolSet`.
inline Result<ToolOutput> call(const Tool& tool, std::string_view arguments, std::stop_token stop = {}) {
  ToolSet set;
  if (auto status = set.add(tool); !status) return fail(std::move(status.error()));
  ToolContext context;
  context.stop = std::move(stop);
  return set.execute(context, tool.definition.name, arguments);
}
inline Result<ToolOutput> call_with(const Tool& tool, const Json& arguments) {
  return call(tool, to_json_text(arguments));
}

/// The text of a result, or its error message.
inline std::string text_of(const Result<ToolOutput>& result) {
  return result ? result->text : "error: " + result.error().message;
}

/// A new empty folder, removed with its content at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string str(std::string_view below = "") const { return (path_ / below).string(); }
  /// Creates a file and its parent folders.
  void write(std::string_view below, std::string_view bytes) const {
    std::filesystem::create_directories((path_ / below).parent_path());
    std::ofstream(path_ / below, std::ios::binary) << bytes;
  }
  std::string read(std::string_view below) const {
    std::ifstream file(path_ / below, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace praxis
