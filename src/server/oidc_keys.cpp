#include "server/oidc_keys.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/base64url.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kMostKeys = 100, kMostKeyId = 1024;
constexpr int kLeastRsaBits = 2048, kMostRsaBits = 8192;
constexpr std::size_t kCoordinate = 32, kEd25519Key = 32;
constexpr std::array<std::string_view, 3> kAlgorithms{"RS256", "ES256", "EdDSA"};

template <typename T, auto Free>
struct Freed {
  void operator()(T* value) const { Free(value); }
};
using Number = std::unique_ptr<BIGNUM, Freed<BIGNUM, BN_free>>;
using ParamBuild = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM, OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX, EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX, EVP_MD_CTX_free>>;
using KeyPtr = std::shared_ptr<EVP_PKEY>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Number number_of(std::string_view bytes) {
  return Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

/// The bytes of a member, or nothing.
std::string member_bytes(const Json& jwk, std::string_view name) {
  return base64url_decode(json_text(jwk, name)).value_or("");
}

/// A public key of this type; null if the parameters make none.
KeyPtr key_from(const char* type, OSSL_PARAM_BLD* build) {
  const Params params(OSSL_PARAM_BLD_to_param(build));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* made = nullptr;
  if (!params || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, params.get()) != 1)
    return nullptr;
  KeyPtr key(made, &EVP_PKEY_free);
  const KeyContext check(EVP_PKEY_CTX_new_from_pkey(nullptr, made, nullptr));
  return check && EVP_PKEY_public_check(check.get()) == 1 ? key : nullptr;
}

KeyPtr rsa_key(const Json& jwk) {
  const Number modulus = number_of(member_bytes(jwk, "n")), exponent = number_of(member_bytes(jwk, "e"));
  const int bits = modulus ? BN_num_bits(modulus.get()) : 0;
  constexpr int kMostExponentBits = 64;
  if (bits < kLeastRsaBits || bits > kMostRsaBits || !exponent || BN_is_odd(exponent.get()) != 1 ||
      BN_is_one(exponent.get()) == 1 || BN_num_bits(exponent.get()) > kMostExponentBits)
    return nullptr;
  const ParamBuild build(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
  OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
  return key_from("RSA", build.get());
}

KeyPtr p256_key(const Json& jwk) {
  const std::string x = member_bytes(jwk, "x"), y = member_bytes(jwk, "y");
  if (json_text(jwk, "crv") != "P-256" || x.size() != kCoordinate || y.size() != kCoordinate) return nullptr;
  const std::string point = '\x04' + x + y;  // SEC 1: uncompressed
  const ParamBuild build(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(build.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(build.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  return key_from("EC", build.get());
}

KeyPtr ed25519_key(const Json& jwk) {
  const std::string x = member_bytes(jwk, "x");
  if (json_text(jwk, "crv") != "Ed25519" || x.size() != kEd25519Key) return nullptr;
  EVP_PKEY* const made = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(x), x.size());
  return {made, &EVP_PKEY_free};
}

/// A signature of ES256 is two numbers one after the other; OpenSSL wants them in DER.
std::string der_of(std::string_view signature) {
  if (signature.size() != 2 * kCoordinate) return {};
  const std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG, ECDSA_SIG_free>> pair(ECDSA_SIG_new());
  ECDSA_SIG_set0(pair.get(), number_of(signature.substr(0, kCoordinate)).release(),
                 number_of(signature.substr(kCoordinate)).release());
  unsigned char* made = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &made);
  const std::unique_ptr<unsigned char, decltype([](unsigned char* each) { OPENSSL_free(each); })> kept(made);
  return size > 0 ? std::string(made, made + size) : std::string();
}

bool is_signed_by(EVP_PKEY* key, const WebToken& token, std::string_view algorithm) {
  const std::string signature = algorithm == "ES256" ? der_of(token.signature) : token.signature;
  const EVP_MD* const digest = algorithm == "EdDSA" ? nullptr : EVP_sha256();
  const DigestContext context(EVP_MD_CTX_new());
  return context && !signature.empty() &&
         EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(token.signed_part),
                          token.signed_part.size()) == 1;
}

/// Whether the key is meant for signatures.
bool is_for_signatures(const Json& jwk) {
  const Json& use = json_at(jwk, "use");
  if (!use.is_null() && json_text(jwk, "use") != "sig") return false;
  const auto* const operations = json_at(jwk, "key_ops").if_array();
  return operations == nullptr || std::ranges::find(*operations, Json("verify")) != operations->end();
}

}  // namespace

bool OidcKeys::knows(std::string_view algorithm) {
  return std::ranges::find(kAlgorithms, algorithm) != kAlgorithms.end();
}

Result<OidcKeys::Key> OidcKeys::read_key(const Json& jwk) {
  const std::string_view type = json_text(jwk, "kty");
  Key key{json_string(jwk, "kid"), type == "RSA" ? "RS256" : type == "EC" ? "ES256" : "EdDSA", nullptr};
  const bool is_other = json_at(jwk, "alg").is_string() && json_text(jwk, "alg") != key.algorithm;
  if (!is_other && is_for_signatures(jwk) && key.id.size() <= kMostKeyId) {
    if (type == "RSA") key.key = rsa_key(jwk);
    if (type == "EC") key.key = p256_key(jwk);
    if (type == "OKP") key.key = ed25519_key(jwk);
  }
  if (!key.key) return fail(ErrorCode::kInput, "not a key for RS256, ES256 or EdDSA");
  return key;
}

Result<OidcKeys> OidcKeys::read(const Json& document) {
  const auto* const listed = json_at(document, "keys").if_array();
  if (listed == nullptr) return fail(ErrorCode::kInput, "the document is no set of keys");
  if (listed->size() > kMostKeys) return fail(ErrorCode::kInput, "the set has more than 100 keys");
  OidcKeys keys;
  for (const Json& each : *listed) {
    if (auto key = read_key(each)) keys.keys_.push_back(*std::move(key));
  }
  if (keys.keys_.empty()) return fail(ErrorCode::kInput, "the set has no key for RS256, ES256 or EdDSA");
  return keys;
}

OidcKeys::Verdict OidcKeys::judge(const WebToken& token) const {
  const std::string_view algorithm = json_text(token.header, "alg");
  const Json& id = json_at(token.header, "kid");
  std::vector<EVP_PKEY*> fitting;
  for (const Key& each : keys_) {
    const bool is_named = id.is_null() || (id.is_string() && each.id == json_text(token.header, "kid"));
    if (each.algorithm == algorithm && is_named) fitting.push_back(each.key.get());
  }
  if (fitting.empty() || (id.is_null() && fitting.size() > 1)) return Verdict::kUnknownKey;
  const bool is_signed =
      std::ranges::any_of(fitting, [&](EVP_PKEY* key) { return is_signed_by(key, token, algorithm); });
  if (is_signed) return Verdict::kSigned;
  // Without an id, a newer key of the provider may have signed it; a key that is named is that key.
  return id.is_null() ? Verdict::kUnknownKey : Verdict::kForged;
}

}  // namespace praxis::server
