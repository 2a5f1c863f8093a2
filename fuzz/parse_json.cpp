// Arbitrary bytes as JSON: an accepted text reads back as the same value, and its canonical form is a fixed
// point.
#include <cstdint>
#include <cstdlib>

#include "praxis/json/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  praxis::parse_partial_json(text);
  const auto value = praxis::parse_json(text);
  if (!value) return 0;
  const auto again = praxis::parse_json(praxis::to_json_text(*value));
  if (!again) std::abort();
  const std::string canonical = praxis::to_canonical_json(*again);
  if (canonical != praxis::to_canonical_json(*value)) std::abort();
  if (praxis::to_canonical_json(praxis::parse_json(canonical).value()) != canonical) std::abort();
  return 0;
}
