#include "net/web_socket.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>

#include "praxis/base/base64.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis {
namespace {

constexpr std::uint8_t kContinuation = 0x0, kText = 0x1, kBinary = 0x2, kClose = 0x8, kPing = 0x9,
                       kPong = 0xa;
constexpr std::uint8_t kFinal = 0x80, kReserved = 0x70, kOpcode = 0x0f, kMasked = 0x80, kLength = 0x7f;
constexpr std::size_t kShort = 125;  // bytes that fit into the first two bytes of a head, and a control frame
constexpr std::uint8_t kIn16Bits = 126, kIn64Bits = 127;
constexpr std::size_t kMaskBytes = 4;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number = number << 8U | byte_at(bytes, at + i);
  return number;
}

void append_number(std::string& out, std::uint64_t number, std::size_t size) {
  for (std::size_t i = size; i-- > 0;) out += static_cast<char>(number >> (8 * i) & 0xffU);
}

std::string frame(std::uint8_t opcode, std::string_view payload) {
  std::string out(1, static_cast<char>(kFinal | opcode));
  if (payload.size() <= kShort) {
    out += static_cast<char>(payload.size());
  } else if (payload.size() <= UINT16_MAX) {
    out += static_cast<char>(kIn16Bits);
    append_number(out, payload.size(), 2);
  } else {
    out += static_cast<char>(kIn64Bits);
    append_number(out, payload.size(), 8);
  }
  return out.append(payload);
}

bool is_control(std::uint8_t opcode) { return (opcode & 0x8U) != 0; }

/// Whether an end may send this code (RFC 6455, 7.4).
bool may_be_sent(std::uint64_t code) {
  constexpr std::array kNever{1004U, 1005U, 1006U};  // reserved
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && std::ranges::find(kNever, code) == kNever.end();
}

}  // namespace

bool is_web_socket_key(std::string_view key) {
  constexpr std::size_t kKeyBytes = 16;
  const auto decoded = base64_decode(key);
  return decoded && decoded->size() == kKeyBytes;
}

std::string web_socket_accept(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return base64_encode({reinterpret_cast<const char*>(digest.data()), size});
}

std::string text_frame(std::string_view text) { return frame(kText, text); }
std::string ping_frame(std::string_view payload) { return frame(kPing, payload); }
std::string pong_frame(std::string_view payload) { return frame(kPong, payload); }

std::string close_frame(CloseCode code, std::string_view reason) {
  std::string payload;
  append_number(payload, std::to_underlying(code), 2);
  return frame(kClose, payload.append(reason.substr(0, kShort - 2)));
}

std::vector<WebSocketReader::Message> WebSocketReader::feed(std::string_view bytes) {
  std::vector<Message> out;
  if (closed_ || failed()) return out;
  pending_ += bytes;
  Head head;
  std::size_t read = 0;
  const auto rest = [&] { return std::string_view(pending_).substr(read); };
  while (!closed_ && !failed() && read_head(rest(), head) && rest().size() - head.size >= head.length) {
    take(head, rest(), out);
    read += head.size + static_cast<std::size_t>(head.length);
  }
  pending_.erase(0, closed_ || failed() ? pending_.size() : read);
  return out;
}

bool WebSocketReader::read_head(std::string_view bytes, Head& head) {
  if (bytes.size() < 2) return false;
  const std::uint8_t first = byte_at(bytes, 0), second = byte_at(bytes, 1);
  const std::size_t more = (second & kLength) == kIn64Bits ? 8 : (second & kLength) == kIn16Bits ? 2 : 0;
  head = {static_cast<std::uint8_t>(first & kOpcode), (first & kFinal) != 0, 2 + more + kMaskBytes,
          static_cast<std::uint64_t>(second & kLength)};
  if ((first & kReserved) != 0) {
    fail(CloseCode::kProtocolError, "a reserved bit is set");
  } else if ((second & kMasked) == 0) {
    fail(CloseCode::kProtocolError, "the frames of a client are masked");
  } else if (is_control(head.opcode) && (!head.is_final || more > 0)) {
    fail(CloseCode::kProtocolError, "a control frame is whole and has at most 125 bytes");
  }
  if (failed() || bytes.size() < head.size) return false;
  if (more > 0) {
    head.length = number_at(bytes, 2, more);
    if (head.length <= (more == 2 ? kShort : UINT16_MAX))
      fail(CloseCode::kProtocolError, "the length of a frame is not in its shortest form");
  }
  return !failed() && check(head);
}

bool WebSocketReader::check(const Head& head) {
  const bool begins = head.opcode == kText || head.opcode == kBinary;
  const bool is_known = begins || head.opcode == kContinuation || head.opcode == kClose ||
                        head.opcode == kPing || head.opcode == kPong;
  if (!is_known) {
    fail(CloseCode::kProtocolError, "the kind of a frame is not known");
  } else if (begins && kind_ != 0) {
    fail(CloseCode::kProtocolError, "a message begins within another");
  } else if (head.opcode == kContinuation && kind_ == 0) {
    fail(CloseCode::kProtocolError, "a message continues that did not begin");
  } else if (!is_control(head.opcode) && (head.length > most_ || message_.size() + head.length > most_)) {
    fail(CloseCode::kTooLarge, "the message is too large");
  }
  return !failed();
}

void WebSocketReader::take(const Head& head, std::string_view bytes, std::vector<Message>& out) {
  const std::string_view mask = bytes.substr(head.size - kMaskBytes, kMaskBytes);
  std::string payload(bytes.substr(head.size, static_cast<std::size_t>(head.length)));
  for (std::size_t i = 0; i < payload.size(); ++i)
    payload[i] = static_cast<char>(payload[i] ^ mask[i % kMaskBytes]);
  if (is_control(head.opcode)) return take_control(head.opcode, std::move(payload), out);
  if (head.opcode != kContinuation) kind_ = head.opcode;
  message_ += payload;
  if (!head.is_final) return;
  const bool is_text = std::exchange(kind_, 0) == kText;
  if (is_text && !is_valid_utf8(message_)) return fail(CloseCode::kInvalidText, "the text is not UTF-8");
  out.push_back({is_text ? Kind::kText : Kind::kBinary, std::exchange(message_, {})});
}

void WebSocketReader::take_control(std::uint8_t opcode, std::string payload, std::vector<Message>& out) {
  if (opcode == kClose) {
    closed_ = true;
    const bool has_code = payload.size() >= 2;
    if (payload.size() == 1 || (has_code && !may_be_sent(number_at(payload, 0, 2))))
      return fail(CloseCode::kProtocolError, "the code of a close is not valid");
    if (has_code && !is_valid_utf8(std::string_view(payload).substr(2)))
      return fail(CloseCode::kInvalidText, "the reason of a close is not UTF-8");
  }
  const Kind kind = opcode == kClose ? Kind::kClose : opcode == kPing ? Kind::kPing : Kind::kPong;
  out.push_back({kind, std::move(payload)});
}

void WebSocketReader::fail(CloseCode code, std::string_view reason) {
  code_ = code;
  reason_ = reason;
}

}  // namespace praxis
