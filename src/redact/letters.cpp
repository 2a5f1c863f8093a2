#include "redact/letters.hpp"

namespace praxis::redact {

std::string decoded_base64(std::string_view text) {
  static constexpr std::array<std::uint8_t, 256> kValues = [] {
    std::array<std::uint8_t, 256> out{};
    out.fill(255);
    std::uint8_t value = 0;
    for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
      out[static_cast<unsigned char>(c)] = value++;
    out[static_cast<unsigned char>('-')] = 62;
    out[static_cast<unsigned char>('_')] = 63;
    return out;
  }();
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == 255) break;
    bits = (bits << 6) | value;
    if ((count += 6) < 8) continue;
    count -= 8;
    out += static_cast<char>((bits >> count) & 0xFF);
  }
  return out;
}

}  // namespace praxis::redact
