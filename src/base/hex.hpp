// Bytes from hexadecimal digits.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace praxis {

/// The bytes that pairs of hexadecimal digits name; what is no pair of digits becomes a zero.
inline std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

}  // namespace praxis
