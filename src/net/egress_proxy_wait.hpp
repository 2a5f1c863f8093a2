// Waiting on sockets with an end to it: a deadline, and the wish to stop.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace praxis {

/// A count that `poll` can wait for. Thread-safe.
class PollableCount {
 public:
  explicit PollableCount(unsigned initial = 0);
  /// Readable while the count is above zero; -1 when the machine is out of descriptors.
  int fd() const { return fd_.get(); }
  void add_one();
  /// Does nothing when the count is zero.
  void take_one();

 private:
  FileDescriptor fd_;
};

/// How long to wait: until the deadline, and no longer once `stop` is readable.
struct Patience {
  int stop = -1;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();

  /// The same stop with a deadline `time` from now.
  Patience within(std::chrono::milliseconds time) const {
    return {stop, std::chrono::steady_clock::now() + time};
  }
};

enum class Wake : std::uint8_t { kReady, kTimeout, kStopped };

/// Waits until one of `fds` (at most 3; negative ones are passed over) is ready, and leaves in them what
/// `poll` found.
Wake wait_for(std::span<pollfd> fds, const Patience& patience);
Wake wait_for(int fd, short events, const Patience& patience);

/// Sends everything on a non-blocking socket; false when the peer is gone or patience ended.
bool send_all(int socket, std::string_view bytes, const Patience& patience);

}  // namespace praxis
