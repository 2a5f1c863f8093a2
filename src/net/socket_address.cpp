#include "net/socket_address.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace praxis {

std::optional<SocketAddress> SocketAddress::parse(const std::string& text, std::uint16_t port) {
  SocketAddress address;
  if (inet_pton(AF_INET, text.c_str(), &address.bytes_.v4.sin_addr) == 1) {
    address.bytes_.v4.sin_family = AF_INET;
  } else {
    address = {};
    if (inet_pton(AF_INET6, text.c_str(), &address.bytes_.v6.sin6_addr) != 1) return std::nullopt;
    address.bytes_.v6.sin6_family = AF_INET6;
  }
  address.set_port(port);
  return address;
}

std::optional<SocketAddress> SocketAddress::of(const sockaddr& found, std::uint16_t port) {
  if (found.sa_family != AF_INET && found.sa_family != AF_INET6) return std::nullopt;
  SocketAddress address;
  address.bytes_.any.sa_family = found.sa_family;  // which its size depends on
  std::memcpy(&address.bytes_, &found, address.size());
  address.set_port(port);
  return address;
}

void SocketAddress::set_port(std::uint16_t port) {
  (family() == AF_INET6 ? bytes_.v6.sin6_port : bytes_.v4.sin_port) = htons(port);
}

std::optional<SocketAddress> SocketAddress::bound(int socket) {
  sockaddr_storage storage{};
  auto& address = reinterpret_cast<sockaddr&>(storage);
  socklen_t size = sizeof storage;
  if (::getsockname(socket, &address, &size) != 0) return std::nullopt;
  return of(address, 0);
}

bool SocketAddress::is_loopback() const {
  if (family() == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&bytes_.v6.sin6_addr) != 0;
  constexpr std::uint32_t kFirstByte = 0xff000000, kLoopback = 0x7f000000;
  return (ntohl(bytes_.v4.sin_addr.s_addr) & kFirstByte) == kLoopback;
}

std::string SocketAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* const bytes =
      family() == AF_INET6 ? static_cast<const void*>(&bytes_.v6.sin6_addr) : &bytes_.v4.sin_addr;
  return inet_ntop(family(), bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

std::expected<FileDescriptor, int> start_connecting(const SocketAddress& address) {
  FileDescriptor socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return std::unexpected(errno);
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket.get(), address.data(), address.size()) != 0 && errno != EINPROGRESS)
    return std::unexpected(errno);
  return socket;
}

int connect_error(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace praxis
