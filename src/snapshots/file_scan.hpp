// Looks at the files that a tool may change. Enters no links and leaves out `.git`, what the project ignores
// (named, not read) and what the tool must not write. Reaches files by descriptors of the folders only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"
#include "praxis/tools/file_tool.hpp"
#include "snapshots/file_state.hpp"
#include "tools/file_roots.hpp"

namespace praxis {

/// Where a call may change files.
struct ChangePlaces {
  std::vector<std::string> folders;  ///< absolute; single files too
  FileBounds bounds;                 ///< of the tool
  std::string file = {};             ///< the only file, as the tool is given it; empty: all below the folders
};
Json to_json(const ChangePlaces& places);
ChangePlaces change_places_from(const Json& json);

struct ScanBounds {
  std::size_t files = 50'000;                          ///< paths; the rest is not looked at
  std::uint64_t file_bytes = std::uint64_t{4} << 20;   ///< a larger file is named, not kept
  std::uint64_t all_bytes = std::uint64_t{256} << 20;  ///< the same for files beyond this sum
};

/// What files were when they were last read, so that a file that has not changed is not read again.
/// Thread-safe.
class SeenFiles {
 public:
  /// The state of the file when it was the same by size, inode and times; null: it must be read.
  std::optional<FileState> find(const std::string& path, const struct stat& about) const;
  /// `at`: when the reading began, in nanoseconds; a file that changed shortly before may change again
  /// without a new time, so it is not remembered.
  void add(const std::string& path, const struct stat& about, const FileState& state, std::int64_t at);

 private:
  struct Seen {
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = 0, modified = 0, changed = 0;
    FileState state;
  };
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Seen> files_;
};

/// Gets the content of each file that was read.
using KeepContent = std::function<Status(const Digest& digest, std::string bytes)>;

struct ScanOptions {
  SeenFiles* seen = nullptr;   ///< null: every file is read
  KeepContent keep = nullptr;  ///< null: contents are not needed
  ScanBounds bounds = {};
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

/// What is at the places now; of a single file also the folders above it, within those of the places. Errors
/// of `FileRoots::places`, of `keep`; `kLimit`: the deadline has passed.
Result<FileStates> look_at(const ChangePlaces& places, const ScanOptions& options);
/// What is at one path below the place.
Result<FileState> state_at(const FilePlace& place, const std::string& below, const ScanOptions& options);

}  // namespace praxis
