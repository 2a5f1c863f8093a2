// A control group that bounds the memory of a sandbox: of all its processes together, with shared memory and
// the files in its temporary folders. The kernel enforces it, where this user may make a group.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/file_descriptor.hpp"

namespace praxis::supervisor {

/// A group below the one of this process (version 1 of control groups) or next to it (version 2). Not
/// thread-safe.
class MemoryGroup {
 public:
  /// Makes a group of at most `bytes`; none if that is 0, or where it cannot be made. Removes groups of
  /// processes that were killed.
  explicit MemoryGroup(std::uint64_t bytes);
  /// Starts what the kernel does before it moves any process between groups: it waits some ten milliseconds
  /// for all processors. A child does that meanwhile, so that the move itself need not wait.
  static void prepare();
  /// Removes the group, whose processes must have ended.
  ~MemoryGroup();
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  bool exists() const { return group_.get() >= 0; }
  /// Calls `start`; the processes that it starts belong to the group, and must not return from it. Without a
  /// group, only calls it.
  template <class Start>
  auto run(Start start) {
    move_to(group_);
    auto started = start();
    move_to(home_);
    return started;
  }
  /// Whether the kernel has killed a process of the group because the group held too much.
  bool has_killed() const;

 private:
  void make(const std::string& parent, bool is_first_version, std::uint64_t bytes);
  void move_to(const FileDescriptor& group) const;

  FileDescriptor parent_, home_, group_;  ///< folders; `home_` is the group of this process
  std::string name_;
};

}  // namespace praxis::supervisor
