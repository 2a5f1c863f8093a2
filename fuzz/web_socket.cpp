// Arbitrary bytes as the WebSocket frames of a client: where they are cut makes no difference, no message is
// larger than it may be, and what is sent back is no answer to a broken frame. The first byte determines the
// cuts.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "net/web_socket.hpp"

namespace {

constexpr std::size_t kMost = 300;

std::string read(std::string_view bytes, std::size_t piece) {
  praxis::WebSocketReader reader(kMost);
  std::string seen;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    const bool had_failed = reader.failed();
    for (const auto& message : reader.feed(bytes.substr(0, piece))) {
      if (had_failed || message.payload.size() > kMost) std::abort();
      seen += static_cast<char>('0' + std::to_underlying(message.kind));
      seen += message.payload;
    }
  }
  return seen + (reader.failed() ? std::to_string(std::to_underlying(reader.code())) : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (read(bytes, 1) != read(bytes, data[0] % 32 + 1)) std::abort();
  return 0;
}
