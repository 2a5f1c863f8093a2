// Who made a request: a server of Restate that has a private key signs each of its requests. Pure functions.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"

namespace praxis::restate {

/// A public Ed25519 key of a server.
struct IdentityKey {
  std::array<unsigned char, 32> bytes{};
};

/// Reads a key as the server's log shows it: `publickeyv1_`, then base58. Error `kInput`: it is not one.
Result<IdentityKey> read_identity_key(std::string_view text);

inline constexpr const char* kSchemeHeader = "x-restate-signature-scheme";
inline constexpr const char* kSignatureHeader = "x-restate-jwt-v1";

/// What a request says of its sender.
struct SenderClaim {
  std::optional<std::string_view> scheme;     ///< `kSchemeHeader`
  std::optional<std::string_view> signature;  ///< `kSignatureHeader`
  std::string_view path;  ///< as the server knows it: `/discover`, or `/invoke/SERVICE/HANDLER`
};

/// Whether the holder of one of `keys` made the request, for this path and at about this time. The body is
/// not signed. Error `kInput`: why it is not known.
Status check_sender(std::span<const IdentityKey> keys, const SenderClaim& claim, UnixMillis now);

}  // namespace praxis::restate
