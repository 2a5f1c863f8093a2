// Determines which owners are alive, from the kernel and not from a clock. Each open journal has a number and
// holds a lock on the byte of that number in the file `<journal>.owners`; the kernel drops the lock when the
// process ends in any way. Two journals in one process exclude each other as well.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "praxis/base/result.hpp"
#include "store/byte_locks.hpp"

namespace praxis {

/// Thread-safe once claimed. The destructor gives up the number. Safety does not depend on these locks: if
/// they were lost, a second writer would get a new token, and the first would be refused.
class Owners {
 public:
  /// Opens `<journal>.owners`, created with mode 0600 if missing; the file stays empty. Error `io`.
  static Result<Owners> open(const std::string& journal);
  /// Whether a process holds `number` of `journal`; creates nothing, for read-only use.
  static bool alive_in(const std::string& journal, std::int64_t number);
  /// Whether a process has `journal` open for writing; creates nothing.
  static bool any_alive_in(const std::string& journal);

  /// Claims a number that was never used in this journal, and keeps it until destruction.
  Status claim(std::int64_t number);
  /// Whether another owner holds `number`; true if the kernel cannot tell.
  bool alive(std::int64_t number) const;

 private:
  Owners(std::string path, ByteLocks locks) : path_(std::move(path)), locks_(std::move(locks)) {}

  std::string path_;
  ByteLocks locks_;
};

}  // namespace praxis
