// Finds the blobs that an entry names. The journal does not know what entries mean, so whatever looks like a
// digest counts as one: at worst a blob stays that no entry needs.
#pragma once

#include <cstddef>
#include <string_view>

#include "praxis/base/digest.hpp"

namespace praxis {

/// Calls `found` for each digest in a text: 64 hexadecimal digits (0-9, a-f) in a row, and each start in a
/// longer row.
template <class Found>
void for_each_digest(std::string_view text, Found found) {
  constexpr std::size_t kDigits = 64;
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    length = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ? length + 1 : 0;
    if (length < kDigits) continue;
    if (const auto digest = Digest::from_hex(text.substr(at + 1 - kDigits, kDigits))) found(*digest);
  }
}

}  // namespace praxis
