// Classes of ASCII bytes, and base64 of any alphabet.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace praxis::redact {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_alnum(char c) { return is_digit(c) || is_letter(c); }
inline bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
/// A byte of base64 in either alphabet.
inline bool is_base64(char c) {
  static constexpr std::array<bool, 256> kYes = [] {
    std::array<bool, 256> out{};
    for (const char each :
         std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"))
      out[static_cast<unsigned char>(each)] = true;
    return out;
  }();
  return kYes[static_cast<unsigned char>(c)];
}

/// Decodes base64 in either alphabet, padded or not; stops at the first other byte.
std::string decoded_base64(std::string_view text);

}  // namespace praxis::redact
