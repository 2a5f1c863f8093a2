// What is at a path: enough to see that it changed, and to find its content again in a `FileHistory`.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/digest.hpp"

namespace praxis {

/// What is at a path.
struct FileState {
  enum class Kind : std::uint8_t {
    kMissing,
    kFile,
    kLink,
    kFolder,
    kUnkept  ///< ignored by the project, or too large: its content is not kept
  };
  Kind kind = Kind::kMissing;
  std::uint32_t mode = 0;  ///< permission bits of a file
  std::uint64_t size = 0;  ///< of a file
  /// Of the content of a file, of the target of a link; of what is not kept: changes when the file does.
  Digest digest = {};
  bool operator==(const FileState&) const = default;
};

/// By absolute path without links. A path that is not listed is missing.
using FileStates = std::map<std::string, FileState>;

/// How one path changed.
struct PathChange {
  std::string path;  ///< absolute
  FileState before, after;
};

/// The paths that differ, in order.
std::vector<PathChange> differences(const FileStates& before, const FileStates& after);

/// The state of what is not kept: its digest changes when the file does.
FileState unkept_state(const struct stat& about);

/// One text for all states, and back. `std::nullopt`: not such a text.
std::string packed_states(const FileStates& states);
std::optional<FileStates> unpacked_states(std::string_view text);

}  // namespace praxis
