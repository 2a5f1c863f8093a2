// The default VFS with an upper bound on temporary files: a statement that sorts or joins without end would
// fill the disk with them.
#pragma once

#include <cstddef>

namespace praxis {

/// The name of the VFS.
const char* scratch_vfs();

/// Bounds the bytes that this thread writes to temporary files of `scratch_vfs`, until its destruction;
/// without one there is no bound. Beyond it SQLite reports `SQLITE_FULL`.
class ScratchLimit {
 public:
  explicit ScratchLimit(std::size_t bytes);
  ~ScratchLimit();
  ScratchLimit(const ScratchLimit&) = delete;
  ScratchLimit& operator=(const ScratchLimit&) = delete;

  /// Whether a write was refused.
  bool was_reached() const { return was_reached_; }
  /// Counts a write. False if it is refused.
  bool take(std::size_t bytes);

 private:
  std::size_t left_;
  bool was_reached_ = false;
};

}  // namespace praxis
