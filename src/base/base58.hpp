// Base58 in the alphabet of Bitcoin, without 0, O, I and l.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace praxis {

/// The number that `text` names, as `size` bytes, most significant first; empty: a character is not of the
/// alphabet, or the number is larger.
inline std::string base58_decode(std::string_view text, std::size_t size) {
  constexpr std::string_view kLetters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  std::string out(size, '\0');
  for (const char c : text) {
    std::size_t carry = kLetters.find(c);
    if (carry == std::string_view::npos) return {};
    for (std::size_t i = size; i-- > 0;) {
      carry += kLetters.size() * static_cast<std::size_t>(static_cast<unsigned char>(out[i]));
      out[i] = static_cast<char>(carry & 0xFF);
      carry >>= 8;
    }
    if (carry != 0) return {};
  }
  return out;
}

}  // namespace praxis
