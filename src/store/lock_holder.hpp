// Finds the process that keeps others from writing to a journal: by SQLite's write lock, or by the locks of
// a process that opens or closes it. It asks the kernel about these locks: the list in /proc/locks stops all
// locking of the machine while it is read.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace praxis {

struct LockHolder {
  pid_t pid = 0;
  std::string name;      ///< of its program; empty if it has ended meanwhile
  bool stopped = false;  ///< by SIGSTOP or a terminal
  bool operator==(const LockHolder&) const = default;
};

/// `std::nullopt` if no process holds such a lock, or none that this process can see.
std::optional<LockHolder> write_lock_holder(const std::string& journal);

/// Ends the process with SIGKILL if it is still stopped, belongs to this process's user, and has the
/// journal open. False if it was not ended.
bool end_stopped_holder(const std::string& journal, const LockHolder& holder);

/// Says that the process holds the lock, and for a stopped one what can be done.
std::string describe(const LockHolder& holder);

}  // namespace praxis
