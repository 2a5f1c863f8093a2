// Opens files inside given folders and nowhere else. The kernel enforces it (openat2 relative to a descriptor
// of the folder): no `..`, symbolic link, magic link or race with a rename leads outside.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_descriptor.hpp"
#include "praxis/base/result.hpp"

namespace praxis {

/// A descriptor, or the `errno` of the failure.
using Opened = std::expected<FileDescriptor, int>;

/// Opens `path` relative to the directory `root` without following links. Never blocks on a FIFO.
Opened open_beneath(int root, const std::string& path, int flags);
/// The same for kernels and sandboxes without openat2: opens one path component at a time.
Opened open_beneath_by_steps(int root, const std::string& path, int flags);

/// Converts the `errno` of a failed system call on `path` to an error that a model can act on.
std::unexpected<Error> file_error(std::string_view path, int error);

/// A location: an open root, and the path below it (`.` for the root itself).
struct FilePlace {
  FileDescriptor root;
  std::string path;
};

/// The folders that a tool may access. Immutable.
class FileRoots {
 public:
  explicit FileRoots(const std::vector<std::string>& roots);
  /// The candidate locations of `path`: relative to each root in turn, or absolute inside a root. Never
  /// empty. Error `kPolicy`: outside of all roots; `kInput`: not a valid path.
  Result<std::vector<FilePlace>> places(std::string_view path) const;
  /// Opens the first candidate that exists and returns it. Errors as `places`, and `kTool`.
  Result<std::pair<FilePlace, FileDescriptor>> open(std::string_view path, int flags) const;
  /// `/a, /b`, for descriptions and messages.
  std::string list() const;

 private:
  std::vector<std::string> roots_;  ///< absolute, without a trailing slash
};

struct DirectoryEntry {
  enum class Kind : std::uint8_t { kFile, kDirectory, kSymlink, kOther };
  std::string name;
  Kind kind = Kind::kOther;
  std::uint64_t size = 0;  ///< of a file
};
/// The entries of an open directory, sorted by name, at most 100,000.
std::vector<DirectoryEntry> read_directory(FileDescriptor directory);

}  // namespace praxis
