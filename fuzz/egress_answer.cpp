// Arbitrary bytes as a server's response through the egress proxy: where they are cut makes no difference to
// what the client gets. The first byte determines the cuts.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "net/egress_proxy_message.hpp"

namespace {

std::string pass(std::string_view bytes, std::size_t piece) {
  praxis::EgressAnswer answer;
  std::string passed;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    const auto some = answer.pass(bytes.substr(0, piece));
    // Interim responses before the invalid bytes may have been forwarded or not.
    if (!some) return answer.begun() ? (std::abort(), "") : "no answer";
    passed += *some;
  }
  return passed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (pass(bytes, size) != pass(bytes, data[0] % 32 + 1)) std::abort();
  return 0;
}
