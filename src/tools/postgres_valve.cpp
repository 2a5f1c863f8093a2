#include "tools/postgres_valve.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace praxis {
namespace {

constexpr std::size_t kPart = std::size_t{32} * 1024;

enum class Passage { kOpen, kEnded };

/// Takes at most one part that has arrived.
Passage take_part(int from, std::string& to) {
  std::array<char, kPart> part;
  const auto got = recv(from, part.data(), part.size(), MSG_DONTWAIT);
  if (got > 0) to.append(part.data(), static_cast<std::size_t>(got));
  const bool is_open = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
  return is_open ? Passage::kOpen : Passage::kEnded;
}

/// Gives what the other side takes now.
Passage give(int to, std::string& from) {
  while (!from.empty()) {
    const auto given = send(to, from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (given < 0) return errno == EAGAIN || errno == EINTR ? Passage::kOpen : Passage::kEnded;
    from.erase(0, static_cast<std::size_t>(given));
  }
  return Passage::kOpen;
}

}  // namespace

std::optional<PostgresValve> PostgresValve::before(int socket) {
  FileDescriptor server(fcntl(socket, F_DUPFD_CLOEXEC, 0));
  std::array<int, 2> pair = {-1, -1};
  if (server.get() < 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0)
    return std::nullopt;
  const FileDescriptor outer(pair[0]);
  FileDescriptor inner(pair[1]);
  if (dup3(outer.get(), socket, O_CLOEXEC) < 0) return std::nullopt;
  return PostgresValve(std::move(server), std::move(inner));
}

PostgresValve::~PostgresValve() {
  if (server_.get() >= 0) let_out();
}

bool PostgresValve::has_input() {
  give(inner_.get(), coming_);
  // Linux counts what the other end of a pair has not read yet as output of this one.
  int waiting = 0;
  return ioctl(inner_.get(), TIOCOUTQ, &waiting) == 0 && waiting > 0;
}

std::size_t PostgresValve::let_in() {
  if (!coming_.empty()) return 0;
  const bool is_ended = take_part(server_.get(), coming_) == Passage::kEnded;
  const std::size_t taken = coming_.size();
  give(inner_.get(), coming_);
  if (is_ended) shutdown(inner_.get(), SHUT_WR);
  return taken;
}

bool PostgresValve::let_out() {
  while (true) {
    // An end of the server is reported by what it sends, which is its end.
    if (give(server_.get(), going_) == Passage::kEnded) going_.clear();
    if (!going_.empty()) return false;
    take_part(inner_.get(), going_);
    if (going_.empty()) return true;
  }
}

}  // namespace praxis
