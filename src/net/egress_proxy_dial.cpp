#include "net/egress_proxy_dial.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace praxis {
namespace {

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes =
      address->sa_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  return inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

// One look-up, shared by the thread that runs it and the thread that waits for it.
class LookUp {
 public:
  explicit LookUp(std::shared_ptr<std::atomic<std::size_t>> under_way) : under_way_(std::move(under_way)) {
    ++*under_way_;
  }
  LookUp(const LookUp&) = delete;
  LookUp& operator=(const LookUp&) = delete;
  ~LookUp() { --*under_way_; }

  int done_fd() const { return done_.fd(); }
  void finish(Result<Addresses> found) {
    {
      std::lock_guard lock(mutex_);
      found_ = std::move(found);
    }
    done_.add_one();
  }
  Result<Addresses> take() {
    std::lock_guard lock(mutex_);
    return std::move(found_);
  }

 private:
  const std::shared_ptr<std::atomic<std::size_t>> under_way_;
  PollableCount done_;
  std::mutex mutex_;
  Result<Addresses> found_;
};

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

// Returns `std::nullopt` if `text` is not an address.
std::optional<SocketAddress> socket_address(const std::string& text, std::uint16_t port) {
  SocketAddress address{};
  if (inet_pton(AF_INET, text.c_str(), &address.v4.sin_addr) == 1) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(port);
    return address;
  }
  address = {};
  if (inet_pton(AF_INET6, text.c_str(), &address.v6.sin6_addr) != 1) return std::nullopt;
  address.v6.sin6_family = AF_INET6;
  address.v6.sin6_port = htons(port);
  return address;
}

// Returns the connection, or the errno of the failure.
std::expected<FileDescriptor, int> dial(const std::string& text, std::uint16_t port,
                                        const Patience& patience) {
  const std::optional<SocketAddress> address = socket_address(text, port);
  if (!address) return std::unexpected(EAFNOSUPPORT);
  FileDescriptor socket(::socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return std::unexpected(errno);
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const socklen_t size = address->any.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (::connect(socket.get(), &address->any, size) != 0) {
    if (errno != EINPROGRESS) return std::unexpected(errno);
    if (wait_for(socket.get(), POLLOUT, patience) != Wake::kReady) return std::unexpected(ETIMEDOUT);
    int error = 0;
    socklen_t error_size = sizeof(error);
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &error_size);
    if (error != 0) return std::unexpected(error);
  }
  return socket;
}

}  // namespace

Result<Addresses> system_look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
    return fail(ErrorCode::kTool, ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Addresses addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    addresses.push_back(text_of(entry->ai_addr));
  }
  return addresses;
}

Resolver::Resolver(NameLookUp look_up, std::size_t max_look_ups)
    : look_up_(std::move(look_up)),
      max_look_ups_(max_look_ups),
      under_way_(std::make_shared<std::atomic<std::size_t>>(0)) {}

Egress<Addresses> Resolver::addresses_of(const std::string& host, const Patience& patience) {
  auto look_up = std::make_shared<LookUp>(under_way_);
  if (*under_way_ > max_look_ups_ || look_up->done_fd() < 0) {
    return refused(503, "too many names are being looked up at once: try again later");
  }
  try {
    std::thread([look_up, host, find = look_up_] { look_up->finish(find(host)); }).detach();
  } catch (const std::system_error&) {
    return refused(503, "the machine is out of threads: try again later");
  }
  if (wait_for(look_up->done_fd(), POLLIN, patience) != Wake::kReady) {
    return refused(504, "looking up " + host + " took too long");
  }
  Result<Addresses> found = look_up->take();
  if (!found) return refused(502, host + " cannot be looked up: " + found.error().message);
  return *std::move(found);
}

Egress<FileDescriptor> dial_first(const Addresses& addresses, std::uint16_t port, const std::string& name,
                                  const Patience& patience) {
  int last_error = ENETUNREACH;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto now = std::chrono::steady_clock::now();
    const auto share = (patience.deadline - now) / static_cast<std::int64_t>(addresses.size() - i);
    auto socket = dial(addresses[i], port, {patience.stop, now + share});
    if (socket) return *std::move(socket);
    last_error = socket.error();
  }
  const std::string reason = std::generic_category().message(last_error);
  return refused(last_error == ETIMEDOUT ? 504 : 502, "cannot connect to " + name + ": " + reason);
}

}  // namespace praxis
