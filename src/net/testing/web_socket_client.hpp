// A WebSocket client that sends exactly the given frames, right or wrong, and reads those of the server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/testing/raw_client.hpp"

namespace praxis::testing {

class WebSocketClient {
 public:
  static constexpr std::uint8_t kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10;
  static constexpr std::uint8_t kFinal = 0x80;

  struct Frame {
    std::uint8_t opcode = 0;
    std::string payload;
    bool operator==(const Frame&) const = default;
    /// Of a close.
    int code() const {
      if (payload.size() < 2) return 0;
      return static_cast<std::uint8_t>(payload[0]) << 8 | static_cast<std::uint8_t>(payload[1]);
    }
  };

  /// Sends the request for an upgrade; `headers` are whole lines.
  WebSocketClient(std::uint16_t port, std::string_view path, std::string_view headers) : client_(port) {
    client_.send("GET " + std::string(path) +
                 " HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
                 "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                 std::string(headers) + "\r\n");
  }
  /// The head of the answer.
  std::string head() {
    const std::string& all = client_.read_until("\r\n\r\n");
    const std::size_t end = all.find("\r\n\r\n");
    if (end == all.npos) return all;
    if (at_ == 0) at_ = end + 4;
    return all.substr(0, end);
  }
  RawClient& raw() { return client_; }

  /// `first` is the first byte of the frame: opcode, and `kFinal`.
  static std::string frame(std::uint8_t first, std::string_view payload, bool is_masked = true) {
    std::string out(1, static_cast<char>(first));
    const std::uint8_t mask = is_masked ? 0x80 : 0;
    const std::size_t wide = payload.size() > 0xffff ? 8 : payload.size() > 125 ? 2 : 0;
    out += static_cast<char>(mask | (wide == 8 ? 127 : wide == 2 ? 126 : payload.size()));
    for (std::size_t i = wide; i-- > 0;) out += static_cast<char>(payload.size() >> (8 * i));
    if (!is_masked) return out.append(payload);
    constexpr std::string_view kKey = "\x37\xfa\x21\x3d";
    out += kKey;
    for (std::size_t i = 0; i < payload.size(); ++i) out += static_cast<char>(payload[i] ^ kKey[i % 4]);
    return out;
  }
  void send(std::uint8_t first, std::string_view payload) const { client_.send(frame(first, payload)); }

  /// The next frame of the server; nothing once it has closed the connection, or after 10 seconds.
  std::optional<Frame> next() {
    head();
    while (true) {
      const std::string_view rest = std::string_view(client_.received()).substr(at_);
      if (auto found = read(rest)) return found;
      if (!client_.read_more()) return std::nullopt;
    }
  }

 private:
  std::optional<Frame> read(std::string_view rest) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(rest[i]); };
    if (rest.size() < 2) return std::nullopt;
    const std::size_t wide = byte(1) == 127 ? 8 : byte(1) == 126 ? 2 : 0;
    if (rest.size() < 2 + wide) return std::nullopt;
    std::size_t size = wide == 0 ? byte(1) : 0;
    for (std::size_t i = 0; i < wide; ++i) size = size << 8 | byte(2 + i);
    if (rest.size() < 2 + wide + size) return std::nullopt;
    at_ += 2 + wide + size;
    return Frame{static_cast<std::uint8_t>(byte(0) & 0x0f), std::string(rest.substr(2 + wide, size))};
  }

  RawClient client_;
  std::size_t at_ = 0;  ///< of what was received, the bytes that were read as frames
};

}  // namespace praxis::testing
