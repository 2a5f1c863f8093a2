// Files that a part of this process has locked by fcntl(2). Closing any descriptor of such a file drops all
// those locks, also a descriptor that never locked, so no other code of the process may open it: SQLite's
// databases and their indexes.
#pragma once

#include <sys/types.h>

#include <string>

namespace praxis {

/// What a path led to; two names of one file or folder have the same identity.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

/// Keeps one file from being opened, as long as it lives. Thread-safe.
class HeldFile {
 public:
  HeldFile() = default;
  /// Holds the file that has this path now, if it exists.
  explicit HeldFile(const std::string& path);
  HeldFile(HeldFile&& other) noexcept;
  HeldFile& operator=(HeldFile&& other) noexcept;
  ~HeldFile();

 private:
  FileIdentity file_;
};

/// Whether `path`, relative to `folder` (or AT_FDCWD), is a held file, or the `-shm` of one.
bool is_held(int folder, const std::string& path);

}  // namespace praxis
