// Numbers as SQLite's files hold them.
#pragma once

#include <cstdint>
#include <string_view>

namespace praxis {

/// The number in at most 8 bytes, the highest first.
inline std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8U | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace praxis
