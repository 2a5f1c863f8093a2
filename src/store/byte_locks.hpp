// Locks of single bytes of the file `<journal>.owners`. They are open-file-description locks: they exclude
// each other within a process too, and the kernel drops them when the process ends in any way. They exclude
// no process that ignores them.
#pragma once

#include <cstdint>
#include <string>

#include "praxis/base/result.hpp"

namespace praxis {

/// Bytes up to this one are the numbers of owners.
inline constexpr std::int64_t kLastOwnerByte = (std::int64_t{1} << 62) - 1;
inline constexpr std::int64_t kCreationByte = kLastOwnerByte + 1;  ///< held by who creates the journal
inline constexpr std::int64_t kTurnByte = kLastOwnerByte + 2;      ///< held by who writes next in a crowd

std::string owners_file(const std::string& journal);

/// An open file of byte locks. Closing it drops its locks. Locking is thread-safe.
class ByteLocks {
 public:
  enum class Use : std::uint8_t { kLock, kLook };
  /// Opens `<journal>.owners`, created empty with mode 0600 for `kLock`. Error `io`; `not_found` for a
  /// missing file when looking.
  static Result<ByteLocks> open(const std::string& journal, Use use = Use::kLock);
  ByteLocks(ByteLocks&& other) noexcept;
  ByteLocks& operator=(ByteLocks&& other) noexcept;
  ~ByteLocks();

  /// False if another open file holds the byte, or the lock failed for a reason that `errno` has.
  bool try_lock(std::int64_t byte) const;
  /// Waits in the order of the calls, without limit. False if the lock failed.
  bool wait_and_lock(std::int64_t byte) const;
  void unlock(std::int64_t byte) const;
  /// Whether another open file holds one of the bytes; true if the kernel cannot tell.
  bool is_locked(std::int64_t first, std::int64_t last) const;

 private:
  explicit ByteLocks(int file) : file_(file) {}

  int file_;
};

}  // namespace praxis
