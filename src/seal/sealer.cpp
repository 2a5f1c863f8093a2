#include "seal/sealer.hpp"

#include <sodium.h>

namespace praxis {
namespace {

constexpr char kSealVersion = 1;
constexpr std::size_t kNonce = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kTag = crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(Sealer::kOverhead == 1 + kNonce + kTag);
static_assert(SealKey::kBytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES &&
              SealKey::kBytes == crypto_kdf_KEYBYTES);

const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* octets(char* text) { return reinterpret_cast<unsigned char*>(text); }

/// Two uses of one key would let one weaken the other.
SealKey part_of(const SealKey& key, std::uint64_t number) {
  SecretBytes bytes(std::string(SealKey::kBytes, '\0'));
  crypto_kdf_derive_from_key(octets(bytes.data()), bytes.size(), number, "praxseal", octets(key.reveal()));
  return SealKey(std::move(bytes));
}

}  // namespace

SealPlace& SealPlace::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  bytes_ += text;
  return *this;
}

SealPlace& SealPlace::add(std::uint64_t number) {
  for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(number >> (8 * byte));
  return *this;
}

Sealer::Sealer(const SealKey& data_key) : values_(part_of(data_key, 1)), names_(part_of(data_key, 2)) {}

std::string Sealer::seal(std::string_view value, const SealPlace& place) const {
  std::string sealed(kOverhead + value.size(), kSealVersion);
  // From the system and not from the environment of a run: a simulation repeats its numbers, and a nonce
  // must never come twice.
  randombytes_buf(&sealed[1], kNonce);
  crypto_aead_xchacha20poly1305_ietf_encrypt(octets(&sealed[1 + kNonce]), nullptr, octets(value),
                                             value.size(), octets(place.bytes()), place.bytes().size(),
                                             nullptr, octets(&sealed[1]), octets(values_.reveal()));
  return sealed;
}

std::optional<std::string> Sealer::open(std::string_view sealed, const SealPlace& place) const {
  if (sealed.size() < kOverhead || sealed.front() != kSealVersion) return std::nullopt;
  const std::string_view nonce = sealed.substr(1, kNonce), rest = sealed.substr(1 + kNonce);
  std::string value(rest.size() - kTag, '\0');
  const int opened = crypto_aead_xchacha20poly1305_ietf_decrypt(
      octets(value.data()), nullptr, nullptr, octets(rest), rest.size(), octets(place.bytes()),
      place.bytes().size(), octets(nonce), octets(values_.reveal()));
  if (opened != 0) return std::nullopt;
  return value;
}

Digest Sealer::name_of(const Digest& digest) const {
  Digest name;
  crypto_generichash(name.bytes.data(), name.bytes.size(), digest.bytes.data(), digest.bytes.size(),
                     octets(names_.reveal()), SealKey::kBytes);
  return name;
}

}  // namespace praxis
