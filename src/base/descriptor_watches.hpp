// Runs tasks when descriptors of a program become ready (`Executor::watch`).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "base/file_descriptor.hpp"
#include "base/reactor.hpp"

namespace praxis {

/// The watches of one reactor. Thread-safe. Each watch waits on a duplicate of its descriptor, so that one
/// descriptor can be watched for reading and for writing.
class DescriptorWatches {
 public:
  using WatchId = Executor::WatchId;

  explicit DescriptorWatches(Reactor& reactor) : reactor_(reactor) {}

  /// Returns 0 when the system refuses.
  WatchId add(int fd, Executor::Readiness wanted, Task task);
  void drop(WatchId id);
  /// Drops every watch. No thread may run the reactor any more.
  void stop();

 private:
  struct Watch;
  using WatchPtr = std::shared_ptr<Watch>;

  /// Takes a watch out of the list; null when it is not there.
  WatchPtr take(WatchId id);
  void run(WatchId id);

  Reactor& reactor_;
  std::mutex mutex_;
  std::map<WatchId, WatchPtr> watches_;
  WatchId last_ = 0;
};

}  // namespace praxis
