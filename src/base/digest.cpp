#include "praxis/base/digest.hpp"

#include <sodium.h>

namespace praxis {

namespace {

// libsodium chooses the fastest implementation for this processor when it is initialised.
void ensure_sodium() { [[maybe_unused]] static const int status = sodium_init(); }

const unsigned char* as_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::optional<std::uint8_t> hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return std::nullopt;
}

}  // namespace

std::string Digest::hex(std::size_t first) const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(2 * first, '0');
  for (std::size_t i = 0; i < first; ++i) {
    out[2 * i] = kDigits[bytes[i] >> 4U];
    out[2 * i + 1] = kDigits[bytes[i] & 15U];
  }
  return out;
}

std::optional<Digest> Digest::from_hex(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const auto high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    digest.bytes[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return digest;
}

Digest digest_of(std::string_view bytes) {
  ensure_sodium();
  Digest digest;
  crypto_generichash(digest.bytes.data(), digest.bytes.size(), as_bytes(bytes), bytes.size(), nullptr, 0);
  return digest;
}

Digest digest_chain(const Digest& previous, std::initializer_list<std::string_view> pieces) {
  ensure_sodium();
  Digest digest;
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, digest.bytes.size());
  crypto_generichash_update(&state, previous.bytes.data(), previous.bytes.size());
  for (const std::string_view bytes : pieces)
    crypto_generichash_update(&state, as_bytes(bytes), bytes.size());
  crypto_generichash_final(&state, digest.bytes.data(), digest.bytes.size());
  return digest;
}

}  // namespace praxis
