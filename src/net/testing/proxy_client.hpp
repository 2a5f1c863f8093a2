// The client side of a proxy on a Unix socket, for tests: blocking, byte-exact.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "net/testing/test_server.hpp"

namespace praxis {

// Acts as a program in the sandbox: a blocking socket with a time limit, so that a failing test does not
// hang.
class ProxyClient {
 public:
  explicit ProxyClient(int socket) : socket_(socket) {
    const timeval limit{30, 0};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  }
  explicit ProxyClient(const std::string& path)
      : ProxyClient(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(path, address.sun_path);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end() { ::shutdown(socket_.get(), SHUT_WR); }

  // Reads the available bytes, at most 16 KiB; empty at the end of the stream.
  std::string read_some() {
    std::string chunk(16 * 1024, '\0');
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    chunk.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return chunk;
  }
  // Reads `count` bytes, or up to the end of the stream.
  std::string read(std::size_t count) {
    std::string out;
    char chunk[16 * 1024];
    while (out.size() < count) {
      const ssize_t got = ::recv(socket_.get(), chunk, std::min(sizeof(chunk), count - out.size()), 0);
      if (got <= 0) break;
      out.append(chunk, static_cast<std::size_t>(got));
    }
    return out;
  }
  std::string read_all() { return read(std::string::npos); }
  std::string read_head() {
    std::string out;
    while (!out.ends_with("\r\n\r\n")) {
      const std::string next = read(1);
      if (next.empty()) break;
      out += next;
    }
    return out;
  }
  std::string ask(const std::string& request) {
    send(request);
    return read_all();
  }
  // Opens a tunnel; returns the status line.
  std::string open_tunnel(const std::string& target) {
    send("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n");
    const std::string head = read_head();
    return head.substr(0, head.find("\r\n"));
  }

 private:
  FileDescriptor socket_;
};

// Answers "hello", tries to keep the connection alive, and closes it.
inline TestServer::Handler hello() {
  return [](const TestRequest&, TestConnection& to) {
    to.write(http_reply(200, "hello", "Keep-Alive: timeout=9\r\nConnection: keep-alive\r\n"));
    to.close();
  };
}

// A request to a proxy; its Host header differs from the host of the URL.
inline std::string get(const std::string& url) {
  return "GET " + url + " HTTP/1.1\r\nHost: other.example\r\n\r\n";
}

}  // namespace praxis
