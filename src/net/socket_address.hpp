// Addresses of TCP peers in the form of the system calls, and non-blocking connecting.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "base/file_descriptor.hpp"

namespace praxis {

/// An IPv4 or IPv6 address with a port.
class SocketAddress {
 public:
  /// Returns `std::nullopt` if `text` is not an IPv4 or IPv6 address.
  static std::optional<SocketAddress> parse(const std::string& text, std::uint16_t port);
  /// Copies an address that a look-up returned; `std::nullopt` for other families than IPv4 and IPv6.
  static std::optional<SocketAddress> of(const sockaddr& address, std::uint16_t port);

  /// The address that a socket is bound to; `std::nullopt` for other families, such as a Unix socket.
  static std::optional<SocketAddress> bound(int socket);

  /// Whether only this machine reaches it: 127.0.0.0/8 or ::1.
  bool is_loopback() const;
  /// Returns the address without the port.
  std::string text() const;
  const sockaddr* data() const { return &bytes_.any; }
  socklen_t size() const { return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }
  int family() const { return bytes_.any.sa_family; }

 private:
  SocketAddress() = default;
  void set_port(std::uint16_t port);

  union Bytes {
    sockaddr_in6 v6;  // first, so that all bytes begin as zeros
    sockaddr_in v4;
    sockaddr any;
  };
  Bytes bytes_ = {};
};

/// Opens a non-blocking socket (close-on-exec, TCP_NODELAY) and starts to connect it to `address`. The
/// attempt has ended when the socket becomes writable; `connect_error` then returns its result. The error is
/// an `errno`.
std::expected<FileDescriptor, int> start_connecting(const SocketAddress& address);
/// Returns the `errno` of a failed attempt to connect; 0 after a successful one.
int connect_error(int socket);

}  // namespace praxis
