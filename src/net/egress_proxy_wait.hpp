// Waits on sockets, limited by a deadline and a stop signal.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace praxis {

/// A counter that `poll` can wait for. Thread-safe.
class PollableCount {
 public:
  explicit PollableCount(unsigned initial = 0);
  /// Readable while the count is above zero; -1 if the machine is out of descriptors.
  int fd() const { return fd_.get(); }
  void add_one();
  /// No-op when the count is zero.
  void take_one();

 private:
  FileDescriptor fd_;
};

/// How long to wait: until the deadline, and no longer once `stop` is readable.
struct Patience {
  int stop = -1;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();

  /// Returns the same stop signal with a deadline `time` from now.
  Patience within(std::chrono::milliseconds time) const {
    return {stop, std::chrono::steady_clock::now() + time};
  }
};

enum class Wake : std::uint8_t { kReady, kTimeout, kStopped };

/// Waits until one of `fds` (at most 3; negative ones are skipped) is ready; `fds` then holds the result of
/// `poll`.
Wake wait_for(std::span<pollfd> fds, const Patience& patience);
Wake wait_for(int fd, short events, const Patience& patience);

/// Sends all bytes on a non-blocking socket; false when the peer is gone or the patience ended.
bool send_all(int socket, std::string_view bytes, const Patience& patience);

}  // namespace praxis
