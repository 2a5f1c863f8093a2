// What the program that renders templates and its owner have in common: bounds, and messages over a socket,
// each with its length in front.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace praxis::renderer {

/// Of the whole program, its code included.
inline constexpr std::uint64_t kMemoryBytes = std::uint64_t{256} * 1024 * 1024;
/// For one request.
inline constexpr int kProcessorSeconds = 2;
/// Of a request and of an answer, in bytes.
inline constexpr std::uint32_t kMaxMessage = 64U * 1024 * 1024;
/// The answer of a program that was built without the engines.
inline constexpr const char* kNoEngines = R"({"engines":false})";

/// False if the other end is closed.
inline bool receive_all(int socket, void* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = recv(socket, static_cast<char*>(to) + done, size - done, 0);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return true;
}

inline bool send_all(int socket, const void* from, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t sent = send(socket, static_cast<const char*>(from) + done, size - done, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) done += static_cast<std::size_t>(sent);
  }
  return true;
}

/// The next message; `std::nullopt` if the other end is closed, or the message is too long.
inline std::optional<std::string> receive_message(int socket) {
  std::uint32_t size = 0;
  if (!receive_all(socket, &size, sizeof size) || size > kMaxMessage) return std::nullopt;
  std::string message(size, '\0');
  if (!receive_all(socket, message.data(), size)) return std::nullopt;
  return message;
}

/// False if the other end is closed.
inline bool send_message(int socket, std::string_view message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  return send_all(socket, &size, sizeof size) && send_all(socket, message.data(), message.size());
}

}  // namespace praxis::renderer
