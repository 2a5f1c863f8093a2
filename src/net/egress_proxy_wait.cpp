#include "net/egress_proxy_wait.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace praxis {
namespace {

int milliseconds_until(std::chrono::steady_clock::time_point deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left + 0)>(left, 0, std::numeric_limits<int>::max()));
}

}  // namespace

PollableCount::PollableCount(unsigned initial)
    : fd_(::eventfd(initial, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)) {}

void PollableCount::add_one() { ::eventfd_write(fd_.get(), 1); }

void PollableCount::take_one() {
  eventfd_t one = 0;
  ::eventfd_read(fd_.get(), &one);
}

Wake wait_for(std::span<pollfd> fds, const Patience& patience) {
  std::array<pollfd, 4> all{};
  all[0] = {patience.stop, POLLIN, 0};
  std::ranges::copy(fds, all.begin() + 1);
  for (;;) {
    const int timeout = milliseconds_until(patience.deadline);
    const int ready = ::poll(all.data(), fds.size() + 1, timeout);
    if (ready < 0 && errno != EINTR) return Wake::kStopped;
    if (all[0].revents != 0) return Wake::kStopped;
    if (ready == 0 && timeout == 0) return Wake::kTimeout;
    if (ready <= 0) continue;
    std::ranges::copy(std::span(all).subspan(1, fds.size()), fds.begin());
    return Wake::kReady;
  }
}

Wake wait_for(int fd, short events, const Patience& patience) {
  pollfd one{fd, events, 0};
  return wait_for({&one, 1}, patience);
}

bool send_all(int socket, std::string_view bytes, const Patience& patience) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (wait_for(socket, POLLOUT, patience) != Wake::kReady) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace praxis
