// WebSocket (RFC 6455) as a server speaks it: the answer to the handshake, frames to send, and a reader of
// the frames of clients that are not trusted. It knows no sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace praxis {

/// Why an end closes (RFC 6455, 7.4.1); sent with a reason for humans.
enum class CloseCode : std::uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kInvalidText = 1007,
  kPolicyViolation = 1008,
  kTooLarge = 1009,
  kTryAgainLater = 1013,
};

/// Whether `key` is valid as `Sec-WebSocket-Key`: 16 bytes in base64.
bool is_web_socket_key(std::string_view key);
/// The `Sec-WebSocket-Accept` for a key.
std::string web_socket_accept(std::string_view key);

/// Frames of a server, which are not masked.
std::string text_frame(std::string_view text);
/// `payload` has at most 125 bytes.
std::string ping_frame(std::string_view payload);
std::string pong_frame(std::string_view payload);
/// `reason` is cut after 123 bytes.
std::string close_frame(CloseCode code, std::string_view reason);

/// Reads the frames of one client. Fragments are put together, and checked as a whole: text is UTF-8.
class WebSocketReader {
 public:
  enum class Kind : std::uint8_t { kText, kBinary, kPing, kPong, kClose };
  struct Message {
    Kind kind;
    std::string payload;  ///< of `kClose` code and reason, as received
  };

  /// A message of a client has at most `most` bytes.
  explicit WebSocketReader(std::size_t most) : most_(most) {}

  /// Takes all of `bytes` and returns the messages that are complete. After a close, or after a failure, it
  /// ignores what comes.
  std::vector<Message> feed(std::string_view bytes);
  /// Whether the client has broken the protocol; then close with `code` and `reason`.
  bool failed() const { return !reason_.empty(); }
  CloseCode code() const { return code_; }
  std::string_view reason() const { return reason_; }

 private:
  struct Head {
    std::uint8_t opcode = 0;
    bool is_final = false;
    std::size_t size = 0;      ///< of the head itself
    std::uint64_t length = 0;  ///< of the payload
  };

  /// Reads the head at the beginning of `bytes`; false if more bytes are needed or it is wrong.
  bool read_head(std::string_view bytes, Head& head);
  bool check(const Head& head);
  /// Takes the frame at the beginning of `bytes`, which is complete.
  void take(const Head& head, std::string_view bytes, std::vector<Message>& out);
  void take_control(std::uint8_t opcode, std::string payload, std::vector<Message>& out);
  void fail(CloseCode code, std::string_view reason);

  const std::size_t most_;
  std::string pending_;    ///< received and not yet read; at most one frame
  std::string message_;    ///< the fragments so far
  std::uint8_t kind_ = 0;  ///< opcode of the fragmented message; 0: none
  bool closed_ = false;
  CloseCode code_ = CloseCode::kNormal;
  std::string_view reason_;
};

}  // namespace praxis
