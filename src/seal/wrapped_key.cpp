#include "seal/wrapped_key.hpp"

#include <sodium.h>

#include "praxis/base/variant.hpp"
#include "seal/sealer.hpp"

namespace praxis {
namespace {

constexpr std::uint64_t kPasses = 3, kMemory = std::uint64_t{64} << 20U;
constexpr std::uint64_t kMostPasses = 64, kMostMemory = std::uint64_t{4} << 30U;
constexpr std::size_t kSaltBytes = crypto_pwhash_SALTBYTES;

Result<SealKey> key_of(const Passphrase& passphrase, const WrapCost& cost) {
  const std::string_view words = passphrase.words.reveal();
  if (cost.salt.size() != kSaltBytes || cost.passes > kMostPasses || cost.memory > kMostMemory)
    return fail(ErrorCode::kInput, "the stored cost of the passphrase is out of range");
  SecretBytes key(std::string(SealKey::kBytes, '\0'));
  const int made = crypto_pwhash(reinterpret_cast<unsigned char*>(key.data()), key.size(), words.data(),
                                 words.size(), reinterpret_cast<const unsigned char*>(cost.salt.data()),
                                 cost.passes, cost.memory, crypto_pwhash_ALG_ARGON2ID13);
  if (made != 0)
    return fail(ErrorCode::kInternal, "no memory to make a key of the passphrase: it needs " +
                                          std::to_string(cost.memory >> 20U) + " MiB");
  return SealKey(std::move(key));
}

/// The key that wraps: the user's own, or one made of the passphrase.
Result<Sealer> wrapper(const SealSecret& secret, const WrapCost& cost) {
  if (const auto* key = std::get_if<SealKey>(&secret)) return Sealer(*key);
  const auto key = key_of(std::get<Passphrase>(secret), cost);
  if (!key) return fail(key.error());
  return Sealer(*key);
}

SealPlace place_of(const WrapCost& cost) {
  return SealPlace("data key").add(cost.salt).add(cost.passes).add(cost.memory);
}

}  // namespace

Result<WrappedKey> wrap_key(const SealKey& data_key, const SealSecret& secret) {
  WrappedKey wrapped;
  if (std::holds_alternative<Passphrase>(secret))
    wrapped.cost = {std::string(SecretBytes::random(kSaltBytes).reveal()), kPasses, kMemory};
  const auto sealer = wrapper(secret, wrapped.cost);
  if (!sealer) return fail(sealer.error());
  wrapped.bytes = sealer->seal(data_key.reveal(), place_of(wrapped.cost));
  return wrapped;
}

Result<SealKey> unwrap_key(const WrappedKey& wrapped, const SealSecret& secret) {
  const bool is_passphrase = std::holds_alternative<Passphrase>(secret);
  if (is_passphrase != wrapped.needs_passphrase())
    return fail(ErrorCode::kInput, is_passphrase ? "it is sealed with a key and not with a passphrase"
                                                 : "it is sealed with a passphrase and not with a key");
  const auto sealer = wrapper(secret, wrapped.cost);
  if (!sealer) return fail(sealer.error());
  auto opened = sealer->open(wrapped.bytes, place_of(wrapped.cost));
  if (!opened || opened->size() != SealKey::kBytes) return fail(ErrorCode::kInput, "the key is wrong");
  SealKey key{SecretBytes(*opened)};
  wipe(*opened);
  return key;
}

}  // namespace praxis
