// Arbitrary bytes as HTTP requests to the server: where they are cut makes no difference, and what a request
// may take is never exceeded. The first byte determines the cuts.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "net/http_request_parser.hpp"

namespace {

constexpr praxis::RequestBounds kBounds{.head_bytes = 512, .headers = 8, .body_bytes = 256};

/// The requests that the server would take from the bytes. When it notices that the rest is
/// invalid depends on the cuts.
std::string read(std::string_view bytes, std::size_t piece) {
  std::string seen, pending;
  praxis::RequestParser parser(kBounds);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    pending += bytes.substr(0, piece);
    while (!pending.empty()) {
      pending.erase(0, parser.feed(pending));
      const praxis::ReceivedRequest& request = parser.request();
      if (request.body.size() > kBounds.body_bytes || request.headers.size() > kBounds.headers) std::abort();
      if (parser.state() == praxis::RequestParser::State::kFailed) return seen;
      if (parser.state() != praxis::RequestParser::State::kDone) break;
      seen.append(request.method).append("\x01").append(request.target).append("\x02").append(request.body);
      for (const auto& [name, value] : request.headers)
        seen.append("\x03").append(name).append(":").append(value);
      parser = praxis::RequestParser(kBounds);
    }
    if (pending.size() > kBounds.head_bytes) return seen;
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (read(bytes, 1) != read(bytes, data[0] % 32 + 1)) std::abort();
  return 0;
}
