#include "engines/restate/identity.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/base58.hpp"
#include "json/web_token.hpp"

namespace praxis::restate {
namespace {

constexpr std::string_view kKeyPrefix = "publickeyv1_";

std::unexpected<Error> unknown_sender(std::string why) { return fail(ErrorCode::kInput, std::move(why)); }

bool is_signed_with(const IdentityKey& key, const WebToken& token) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  return token.signature.size() == crypto_sign_BYTES &&
         crypto_sign_verify_detached(bytes(token.signature), bytes(token.signed_part),
                                     token.signed_part.size(), key.bytes.data()) == 0;
}

}  // namespace

Result<IdentityKey> read_identity_key(std::string_view text) {
  IdentityKey key;
  static_assert(sizeof(key.bytes) == crypto_sign_PUBLICKEYBYTES);
  const std::string_view digits =
      text.starts_with(kKeyPrefix) ? text.substr(kKeyPrefix.size()) : std::string_view();
  const std::string bytes = base58_decode(digits, key.bytes.size());
  // Each zero byte at the beginning is a digit 1.
  const bool is_whole = std::min(digits.find_first_not_of('1'), digits.size()) ==
                        std::min(bytes.find_first_not_of('\0'), bytes.size());
  if (bytes.empty() || !is_whole)
    return fail(ErrorCode::kInput, "not a public key of Restate: " + std::string(text));
  std::ranges::copy(bytes, key.bytes.begin());
  return key;
}

Status check_sender(std::span<const IdentityKey> keys, const SenderClaim& claim, UnixMillis now) {
  if (!claim.scheme || claim.scheme == "unsigned") return unknown_sender("the request is not signed");
  if (claim.scheme != "v1") return unknown_sender("the request is signed in a way that is not known");
  const auto token = read_web_token(claim.signature.value_or(""));
  if (!token) return fail(token.error());
  if (json_text(token->header, "alg") != "EdDSA")
    return unknown_sender("the token of the signature has another algorithm than EdDSA");
  if (std::ranges::none_of(keys, [&](const IdentityKey& key) { return is_signed_with(key, *token); }))
    return unknown_sender("the signature is not of a key that this process knows");
  if (json_text(token->claims, "aud") != claim.path)
    return unknown_sender("the signature is for another path");
  constexpr std::int64_t kSecond = 1000;
  constexpr std::int64_t kLatest = INT64_MAX, kEarliest = INT64_MIN;
  const std::int64_t seconds = now.value / kSecond;
  const bool has_issued = json_at(token->claims, "iat").is_number();
  if (!has_issued || json_int(token->claims, "nbf", kLatest) > seconds ||
      json_int(token->claims, "exp", kEarliest) < seconds)
    return unknown_sender("the signature is not of this time; compare the clocks");
  return {};
}

}  // namespace praxis::restate
