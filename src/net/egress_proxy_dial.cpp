#include "net/egress_proxy_dial.hpp"

#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "net/socket_address.hpp"

namespace praxis {
namespace {

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

// Returns the connection, or the errno of the failure.
std::expected<FileDescriptor, int> dial(const std::string& text, std::uint16_t port,
                                        const Patience& patience) {
  const auto address = SocketAddress::parse(text, port);
  if (!address) return std::unexpected(EAFNOSUPPORT);
  auto socket = start_connecting(*address);
  if (!socket) return socket;
  if (wait_for(socket->get(), POLLOUT, patience) != Wake::kReady) return std::unexpected(ETIMEDOUT);
  if (const int error = connect_error(socket->get()); error != 0) return std::unexpected(error);
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
    if (const auto address = SocketAddress::of(*entry->ai_addr, 0)) addresses.push_back(address->text());
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
