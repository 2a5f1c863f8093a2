// Base64 for URLs (RFC 4648, section 5), without padding.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "praxis/base/base64.hpp"

namespace praxis {

inline std::string base64url_encode(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

/// Strict: accepts only what `base64url_encode` writes. Error: `kInput`.
inline Result<std::string> base64url_decode(std::string_view text) {
  if (text.find_first_of("+/=") != text.npos) return fail(ErrorCode::kInput, "not base64 for URLs");
  std::string standard(text);
  std::ranges::replace(standard, '-', '+');
  std::ranges::replace(standard, '_', '/');
  constexpr std::size_t kGroup = 4;
  standard.append((kGroup - standard.size() % kGroup) % kGroup, '=');
  return base64_decode(standard);
}

}  // namespace praxis
