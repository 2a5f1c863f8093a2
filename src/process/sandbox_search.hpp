// Finds the paths anywhere below a folder that a sandbox must protect.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/open_beneath.hpp"
#include "praxis/base/result.hpp"

namespace praxis {

/// The folders below one folder, with the protected names that each holds. A search reads the folders that
/// are new or have changed, and only compares the others: they hold what they held if their device, inode and
/// change time are the same. The kernel sets that time whenever an entry is made, removed or renamed, and no
/// program can set it. Two changes within one tick of the clock have the same time: a folder is therefore
/// remembered only if its last change is two seconds old when it is read, on a local file system that keeps
/// such times (ext, XFS, Btrfs, F2FS, tmpfs), and as long as the wall clock is not set back. Thread-safe.
class FolderIndex {
 public:
  /// A folder is remembered only if its last change is older than `settled_after` when it is read.
  explicit FolderIndex(std::chrono::nanoseconds settled_after = std::chrono::seconds(2));
  ~FolderIndex();
  FolderIndex(const FolderIndex&) = delete;
  FolderIndex& operator=(const FolderIndex&) = delete;

  /// As `find_below`; `top` must always be the same folder.
  Result<std::vector<std::string>> find(int top, const std::string& path,
                                        const std::set<std::string>& closed);
  /// How many folders all searches have read.
  std::uint64_t folders_read() const;

 private:
  struct Folder;
  class Search;

  mutable std::mutex mutex_;
  const std::int64_t settled_after_;  ///< nanoseconds
  std::unique_ptr<Folder> root_;
  std::int64_t clock_ = 0;  ///< the latest that the wall clock was ahead of the clock that is never set
  std::uint64_t read_ = 0;
  std::uint64_t searches_ = 0;
};

/// Returns the paths below a folder whose names are protected anywhere (`protected_names.hpp`), each relative
/// to it, with a leading slash. `top` is open, and `path` is its path. Does not descend into links, protected
/// folders, the folders in `closed` (absolute paths), or other users' folders that we may not read (a sandbox
/// may not read them either). Error `kPolicy`: there are more than 100,000 folders or 256 protected paths, or
/// a folder of our own cannot be read. Keeps indices of the last eight folders, for the whole process.
/// Thread-safe; searches of the same folder wait for each other.
Result<std::vector<std::string>> find_below(int top, const std::string& path,
                                            const std::set<std::string>& closed);

}  // namespace praxis
