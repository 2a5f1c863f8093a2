// The data key of a store, as the store holds it: sealed with what the user has.
#pragma once

#include <cstdint>
#include <string>

#include "praxis/base/result.hpp"
#include "praxis/seal/secret.hpp"

namespace praxis {

/// The cost of Argon2id, and its salt; no salt: the key is wrapped by a key and not by a passphrase.
struct WrapCost {
  std::string salt;          ///< 16 bytes, or empty
  std::uint64_t passes = 0;  ///< over the memory
  std::uint64_t memory = 0;  ///< bytes
};

struct WrappedKey {
  std::string bytes;
  WrapCost cost;

  bool needs_passphrase() const { return !cost.salt.empty(); }
};

/// Wraps a data key. With a passphrase this takes about half a second and 64 MiB: the second recommended
/// choice of RFC 9106. Error `kInternal` without that memory.
Result<WrappedKey> wrap_key(const SealKey& data_key, const SealSecret& secret);
/// Errors `kInput`: a passphrase for a key that needs a key, or the other way round; the secret is wrong; the
/// stored cost is beyond 4 GiB or 64 passes. Also `kInternal`.
Result<SealKey> unwrap_key(const WrappedKey& wrapped, const SealSecret& secret);

}  // namespace praxis
