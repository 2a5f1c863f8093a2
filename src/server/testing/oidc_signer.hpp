// An identity provider for tests: keys of each kind, tokens signed with them, and its documents on a server.
#pragma once

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/base64url.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/json/json.hpp"

namespace praxis::server::testing {

/// A key pair for one algorithm.
class OidcSigner {
 public:
  explicit OidcSigner(std::string algorithm, std::string id, unsigned rsa_bits = 2048)
      : algorithm_(std::move(algorithm)),
        id_(std::move(id)),
        key_(make(algorithm_, rsa_bits), &EVP_PKEY_free) {}

  const std::string& algorithm() const { return algorithm_; }
  /// The public half.
  JsonObject jwk() const {
    JsonObject jwk{{"kid", id_}, {"use", "sig"}, {"alg", algorithm_}};
    if (algorithm_ == "RS256") {
      jwk["kty"] = "RSA";
      jwk["n"] = number(OSSL_PKEY_PARAM_RSA_N);
      jwk["e"] = number(OSSL_PKEY_PARAM_RSA_E);
    } else if (algorithm_ == "ES256") {
      jwk["kty"] = "EC";
      jwk["crv"] = "P-256";
      jwk["x"] = number(OSSL_PKEY_PARAM_EC_PUB_X, 32);
      jwk["y"] = number(OSSL_PKEY_PARAM_EC_PUB_Y, 32);
    } else {
      std::string raw(32, '\0');
      std::size_t size = raw.size();
      EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(raw.data()), &size);
      jwk["kty"] = "OKP";
      jwk["crv"] = "Ed25519";
      jwk["x"] = base64url_encode(raw);
    }
    return jwk;
  }
  JsonObject header() const { return {{"alg", algorithm_}, {"typ", "at+jwt"}, {"kid", id_}}; }
  std::string sign(const JsonObject& claims) const {
    return sign(to_json_text(header()), to_json_text(claims));
  }
  /// With texts as they are, valid or not.
  std::string sign(const std::string& header, const std::string& claims) const {
    const std::string text = base64url_encode(header) + '.' + base64url_encode(claims);
    return text + '.' + base64url_encode(signature(text));
  }
  std::string signature(const std::string& text) const {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    EVP_DigestSignInit(context.get(), nullptr, algorithm_ == "EdDSA" ? nullptr : EVP_sha256(), nullptr,
                       key_.get());
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size());
    std::string made(size, '\0');
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(made.data()), &size, bytes, text.size());
    made.resize(size);
    return algorithm_ == "ES256" ? two_numbers(made) : made;
  }

 private:
  static EVP_PKEY* make(const std::string& algorithm, unsigned rsa_bits) {
    if (algorithm == "RS256") return EVP_RSA_gen(rsa_bits);
    if (algorithm == "ES256") return EVP_EC_gen("P-256");
    return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  }
  std::string number(const char* name, int size = 0) const {
    BIGNUM* value = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &value);
    const std::unique_ptr<BIGNUM, decltype(&BN_free)> kept(value, &BN_free);
    std::string bytes(static_cast<std::size_t>(size > 0 ? size : BN_num_bytes(value)), '\0');
    BN_bn2binpad(value, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    return base64url_encode(bytes);
  }
  static std::string two_numbers(const std::string& der) {
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> pair(
        d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), &ECDSA_SIG_free);
    std::string bytes(64, '\0');
    auto* const out = reinterpret_cast<unsigned char*>(bytes.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), out, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), out + 32, 32);
    return bytes;
  }

  const std::string algorithm_, id_;
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
};

/// A token that a shared secret signs, which is what an attacker makes of a public key.
inline std::string hmac_token(const std::string& secret, const JsonObject& header, const JsonObject& claims) {
  const std::string text =
      base64url_encode(to_json_text(header)) + '.' + base64url_encode(to_json_text(claims));
  std::string made(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(made.data()), &size);
  made.resize(size);
  return text + '.' + base64url_encode(made);
}

/// The provider's documents. Thread-safe.
class OidcIssuer {
 public:
  OidcIssuer() : server_([this](const TestRequest& request, TestConnection& to) { answer(request, to); }) {}

  std::string url() const { return server_.url(""); }
  void publish(const std::vector<Json>& keys) {
    const std::lock_guard lock(mutex_);
    keys_ = JsonArray(keys.begin(), keys.end());
  }
  /// Replaces the discovery document.
  void describe(std::string document) {
    const std::lock_guard lock(mutex_);
    document_ = std::move(document);
  }
  /// Does this, on a thread of the server, before each answer with the keys.
  void before_keys(std::function<void()> act) {
    const std::lock_guard lock(mutex_);
    before_keys_ = std::move(act);
  }
  void set_away(bool away) { away_ = away; }
  int key_reads() const { return key_reads_; }

 private:
  void answer(const TestRequest& request, TestConnection& to) {
    std::unique_lock lock(mutex_);
    if (away_) return to.reset();
    if (const auto act = before_keys_; act && request.target == "/keys") {
      lock.unlock();
      act();
      lock.lock();
    }
    if (request.target == "/keys") {
      ++key_reads_;
      to.write(http_reply(200, to_json_text(JsonObject{{"keys", keys_}})));
      return;
    }
    const std::string usual = to_json_text(JsonObject{{"issuer", url()}, {"jwks_uri", server_.url("/keys")}});
    const bool is_known = request.target == "/.well-known/openid-configuration";
    to.write(is_known ? http_reply(200, document_.empty() ? usual : document_) : http_reply(404, ""));
  }

  std::mutex mutex_;
  JsonArray keys_;
  std::string document_;
  std::function<void()> before_keys_;
  std::atomic<bool> away_ = false;
  std::atomic<int> key_reads_ = 0;
  TestServer server_;  // ends first
};

}  // namespace praxis::server::testing
