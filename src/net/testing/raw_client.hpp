// A client of the HTTP server under test that sends exactly the given bytes, and reads what comes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace praxis::testing {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  explicit RawClient(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(path, address.sun_path);
    connected_ = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  bool connected() const { return connected_; }
  int descriptor() const { return socket_.get(); }
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Reads until the text contains `mark`, the server closes or a minute passes; returns everything read so
  /// far.
  const std::string& read_until(std::string_view mark) {
    while (!received_.contains(mark) && read_more()) {
    }
    return received_;
  }
  /// Reads until the server closes, or a minute passes.
  const std::string& read_all() {
    while (read_more()) {
    }
    return received_;
  }
  /// Reads what comes next; false once the server closes, or after a minute.
  bool read_more() {
    pollfd ready{socket_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 60'000) != 1) return false;
    std::array<char, 4096> chunk;
    const auto got = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (got <= 0) {
      closed_ = true;
      return false;
    }
    received_.append(chunk.data(), static_cast<std::size_t>(got));
    return true;
  }
  const std::string& received() const { return received_; }
  /// Whether the server has sent nothing that was not read, and has not closed.
  bool is_silent() const {
    pollfd ready{socket_.get(), POLLIN, 0};
    return ::poll(&ready, 1, 0) == 0;
  }
  /// Whether the server closed the connection, as far as `read_...` saw.
  bool closed() const { return closed_; }
  void close() { socket_.reset(); }
  void send_no_more() const { ::shutdown(socket_.get(), SHUT_WR); }

 private:
  FileDescriptor socket_;
  bool connected_ = false, closed_ = false;
  std::string received_;
};

}  // namespace praxis::testing
