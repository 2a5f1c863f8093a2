#include "engines/restate/identity.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/base58.hpp"
#include "base/base64url.hpp"
#include "praxis/json/json.hpp"

namespace praxis::restate {
namespace {

constexpr std::string_view kKeyPrefix = "publickeyv1_";

std::unexpected<Error> unknown_sender(std::string why) { return fail(ErrorCode::kInput, std::move(why)); }

/// A JSON Web Token in the compact form (RFC 7515), nothing of it verified.
struct WebToken {
  std::string_view signed_part;  ///< the bytes that the signature is of
  Json header, claims;
  std::string signature;
};

Result<Json> object_of(std::string_view part) {
  const auto text = base64url_decode(part);
  return text ? parse_json(*text) : Result<Json>(fail(text.error()));
}

Result<WebToken> read_token(std::string_view text) {
  const std::size_t first = text.find('.'), last = text.rfind('.');
  if (first == std::string_view::npos || first == last) return unknown_sender("the signature is no token");
  auto header = object_of(text.substr(0, first));
  auto claims = object_of(text.substr(first + 1, last - first - 1));
  auto signature = base64url_decode(text.substr(last + 1));
  if (!header || !claims || !signature) return unknown_sender("the token of the signature cannot be read");
  return WebToken{text.substr(0, last), *std::move(header), *std::move(claims), *std::move(signature)};
}

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
  const auto token = read_token(claim.signature.value_or(""));
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
