// Arbitrary bytes as Server-Sent Events: where they are cut makes no difference. The first byte determines
// the cuts.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "praxis/net/sse.hpp"

namespace {

std::string read(std::string_view bytes, std::size_t piece) {
  std::string said;
  praxis::SseParser parser(4096);
  const auto on_event = [&](const praxis::SseEvent& event) {
    said.append(event.event).append("\x01").append(event.data).append("\x02").append(event.id).append("\x03");
  };
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (!parser.feed(bytes.substr(0, piece), on_event)) return "too large";
  }
  const bool ended = parser.finish(on_event).has_value();
  return said.append(parser.stray()).append(ended ? "" : "cut");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (read(bytes, size) != read(bytes, data[0] % 32 + 1)) std::abort();
  return 0;
}
