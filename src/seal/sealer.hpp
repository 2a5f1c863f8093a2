// Seals values: XChaCha20-Poly1305 with a key of the store, each value bound to its place, so that one that
// was moved to another place does not open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/base/digest.hpp"
#include "praxis/seal/secret.hpp"

namespace praxis {

/// Where a value belongs: the column, and what names the row. Two places are the same only if they were made
/// of the same texts and numbers in the same order.
class SealPlace {
 public:
  explicit SealPlace(std::string_view column) { add(column); }
  SealPlace& add(std::string_view text);
  SealPlace& add(std::uint64_t number);
  SealPlace& add(std::int64_t number) { return add(static_cast<std::uint64_t>(number)); }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Thread-safe.
class Sealer {
 public:
  /// By how much a sealed value is longer: a version byte, the nonce, the tag.
  static constexpr std::size_t kOverhead = 1 + 24 + 16;

  explicit Sealer(const SealKey& data_key);

  /// Another value each time, because its nonce is random.
  std::string seal(std::string_view value, const SealPlace& place) const;
  /// `std::nullopt`: not sealed with this key for this place, or altered.
  std::optional<std::string> open(std::string_view sealed, const SealPlace& place) const;
  /// A name for a digest, always the same for one key, from which only the key leads back to the content.
  Digest name_of(const Digest& digest) const;

 private:
  SealKey values_, names_;
};

}  // namespace praxis
