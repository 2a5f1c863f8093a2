#include "process/supervisor/forwarder.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <list>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"
#include "process/supervisor/confine.hpp"

namespace praxis::supervisor {

namespace {

constexpr std::size_t kMaxConnections = 128;

/// One direction of a connection: bytes read and not yet written.
struct Flow {
  std::array<char, 16384> buffer;
  std::size_t begin = 0, end = 0;
  bool finished = false;  ///< the source has ended, and the target's write side is shut down

  bool empty() const { return begin == end; }
};
struct Connection {
  FileDescriptor inner, outer;
  Flow out, back;
  bool broken = false;
};

FileDescriptor listen_on_loopback() {
  FileDescriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kProxyPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool listens =
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      listen(listener.get(), 64) == 0;
  return listens ? std::move(listener) : FileDescriptor();
}

FileDescriptor connect_to(const std::string& path) {
  FileDescriptor socket_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  if (connect(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  fcntl(socket_fd.get(), F_SETFL, O_NONBLOCK);
  return socket_fd;
}

/// Moves the bytes that can be moved now. False if the connection is broken.
bool move_bytes(Flow& flow, int from, int to) {
  if (flow.empty() && !flow.finished) {
    const ssize_t got = recv(from, flow.buffer.data(), flow.buffer.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    flow.begin = 0;
    flow.end = static_cast<std::size_t>(got);
    if (got == 0) {
      flow.finished = true;
      shutdown(to, SHUT_WR);
    }
  }
  if (flow.empty()) return true;
  const ssize_t sent = send(to, flow.buffer.data() + flow.begin, flow.end - flow.begin, MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  flow.begin += static_cast<std::size_t>(sent);
  return true;
}

/// The events to poll a side for: writable while bytes for it are pending, readable when none are buffered.
short events(const Flow& reads, const Flow& writes) {
  return static_cast<short>((reads.empty() && !reads.finished ? POLLIN : 0) | (writes.empty() ? 0 : POLLOUT));
}

void forward(const FileDescriptor& listener, const std::string& proxy) {
  std::list<Connection> connections;
  for (;;) {
    std::vector<pollfd> ready;
    const short more = connections.size() < kMaxConnections ? POLLIN : 0;
    ready.push_back({listener.get(), more, 0});
    for (const Connection& one : connections) {
      ready.push_back({one.inner.get(), events(one.out, one.back), 0});
      ready.push_back({one.outer.get(), events(one.back, one.out), 0});
    }
    poll(ready.data(), ready.size(), -1);
    std::size_t at = 1;
    for (Connection& one : connections) {
      const bool stirred = (ready[at].revents | ready[at + 1].revents) != 0;
      at += 2;
      if (!stirred) continue;
      one.broken = !move_bytes(one.out, one.inner.get(), one.outer.get()) ||
                   !move_bytes(one.back, one.outer.get(), one.inner.get()) ||
                   (one.out.finished && one.back.finished);
    }
    connections.remove_if([](const Connection& one) { return one.broken; });
    if (ready[0].revents == 0) continue;
    FileDescriptor inner(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    FileDescriptor outer = connect_to(proxy);
    if (inner.get() < 0 || outer.get() < 0) continue;
    Connection& made = connections.emplace_back();
    made.inner = std::move(inner);
    made.outer = std::move(outer);
  }
}

}  // namespace

bool start_forwarder(const std::string& proxy) {
  const FileDescriptor listener = listen_on_loopback();
  if (listener.get() < 0) return false;
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    if (fork() != 0) _exit(0);
    setsid();
    // Close the command's streams, channel and status here: they must end with the command.
    const auto kept = static_cast<unsigned>(listener.get());
    close_range(0, kept - 1, 0);
    close_range(kept + 1, ~0U, 0);
    forward(listener, proxy);
  }
  return waitpid(child, nullptr, 0) == child;
}

}  // namespace praxis::supervisor
