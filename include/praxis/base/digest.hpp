// BLAKE2b-256: content addresses of blobs, the hash chain of the journal, request digests.
// BLAKE2b rather than SHA-256 because libsodium's is three times faster without special instructions.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace praxis {

/// 256 bits; all zero means "no digest".
struct Digest {
  std::array<std::uint8_t, 32> bytes{};
  auto operator<=>(const Digest&) const = default;

  bool empty() const { return *this == Digest{}; }
  /// The first `first` bytes (at most 32), each as two lower-case hexadecimal digits.
  std::string hex(std::size_t first = 32) const;
  static std::optional<Digest> from_hex(std::string_view hex);
};

/// Returns the digest of `bytes`.
Digest digest_of(std::string_view bytes);
/// Returns the digest of `previous` followed by all pieces: one link of a hash chain.
Digest digest_chain(const Digest& previous, std::initializer_list<std::string_view> pieces);
inline Digest digest_chain(const Digest& previous, std::string_view bytes) {
  return digest_chain(previous, {bytes});
}

}  // namespace praxis
#pragma GCC visibility pop
