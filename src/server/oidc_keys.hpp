// The public keys of an identity provider (JSON Web Key Set, RFC 7517), and whether one of them signed a
// token. Values; thread-safe once made.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "json/web_token.hpp"

namespace praxis::server {

class OidcKeys {
 public:
  enum class Verdict : std::uint8_t {
    kSigned,
    kUnknownKey,  ///< no key of this id is for the algorithm; without an id: no known key signed it
    kForged       ///< the key of this id did not sign it
  };

  /// Keeps the keys that can verify RS256, ES256 and EdDSA (Ed25519), at most 100; ignores others. Error
  /// `kInput`: the document is no key set, or has no such key.
  static Result<OidcKeys> read(const Json& document);
  /// Judges the signature by the algorithm and the key id that the header names. A token without a key id
  /// fits if one key alone is for its algorithm. Everything else in the header is ignored.
  Verdict judge(const WebToken& token) const;
  /// Whether tokens with this algorithm are looked at. Never `none`, and never one with a shared secret.
  static bool knows(std::string_view algorithm);

 private:
  struct Key {
    std::string id, algorithm;
    std::shared_ptr<EVP_PKEY> key;
  };
  static Result<Key> read_key(const Json& jwk);

  std::vector<Key> keys_;
};

}  // namespace praxis::server
