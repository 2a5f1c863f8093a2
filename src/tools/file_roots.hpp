// Opens files inside given folders and nowhere else. The kernel enforces it (openat2 relative to a descriptor
// of the folder): no `..`, symbolic link, magic link or race with a rename leads outside. Nor does a link
// that a program puts in the place of such a folder.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/open_beneath.hpp"
#include "praxis/base/result.hpp"
#include "praxis/tools/file_tool.hpp"
#include "process/protected_names.hpp"

namespace praxis {

/// Converts the `errno` of a failed system call on `path` to an error that a model can act on, or to the
/// fault of a process that has run out of something.
std::unexpected<Error> file_error(std::string_view path, int error);

/// The error for a file that a tool must not write or, when it is secret, read.
std::unexpected<Error> protected_error(std::string_view path, PathProtection protection);

/// A location: an open root, and the path below it (`.` for the root itself).
struct FilePlace {
  FileDescriptor root;
  std::string folder;  ///< the root's path without links
  std::string path;
};

/// The folders that a tool may access, and single files among them, which are then not protected.
/// Thread-safe; copies share what they have seen.
class FileRoots {
 public:
  explicit FileRoots(const std::vector<std::string>& roots, FileBounds bounds = {});
  /// The candidate locations of `path`: relative to each root in turn, or absolute inside a root. Never
  /// empty. Error `kPolicy`: outside of all roots; `kInput`: not a valid path.
  Result<std::vector<FilePlace>> places(std::string_view path) const;
  /// How the file `path` below the place's root is protected.
  PathProtection protection(const FilePlace& place, const std::string& path) const;
  /// Opens the first candidate that exists and returns it. Errors as `places`; `kPolicy`: it is secret;
  /// `kTool`.
  Result<std::pair<FilePlace, FileDescriptor>> open(std::string_view path, int flags) const;
  /// `/a, /b`, for descriptions and messages.
  std::string list() const;
  /// The editor whose unsaved changes count; null: the disk alone.
  EditorFiles* editor() const { return bounds_.editor.get(); }

 private:
  /// What each root was at its first use.
  struct Seen {
    std::mutex mutex;
    std::map<std::string, FileIdentity> first;
  };

  Result<FileDescriptor> open_root(const std::string& root) const;

  /// Adds the single file `file` if `path` names it.
  Status add_file(const std::string& file, std::string_view path, std::vector<FilePlace>& found) const;

  std::shared_ptr<Seen> seen_;
  std::vector<std::string> roots_;  ///< absolute, without a trailing slash
  std::vector<std::string> files_;  ///< single files that were given by name
  FileBounds bounds_;
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
