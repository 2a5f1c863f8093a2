// Signatures of a server of Restate, made by the test with a key of its own, and one that a real server made
// with it.
#pragma once

#include <sodium.h>

#include <array>
#include <numeric>
#include <string>
#include <string_view>

#include "base/base64url.hpp"
#include "praxis/base/time.hpp"
#include "praxis/json/json.hpp"

namespace praxis::restate::testing {

/// The public half of the key whose private half is the bytes 0 to 31, as Restate names it.
inline constexpr std::string_view kSigningKey = "publickeyv1_FAe4sisG95oZ42w7buUn5qEE4TAnfTTFPiguZUHmhiF";

/// What Restate 1.7.12 with that key sent with a request for `/discover`.
inline constexpr std::string_view kRecordedToken =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJFZERTQSIsImtpZCI6InB1YmxpY2tleXYxX0ZBZTRzaXNHOTVvWjQydzdidVVuNXFFRTRUQW5m"
    "VFRGUGlndVpVSG1oaUYifQ.eyJhdWQiOiIvZGlzY292ZXIiLCJleHAiOjE3OTU4MjE5NzcsImlhdCI6MTc5NTgyMTkxNywibmJmIj"
    "oxNzk1ODIxODU3fQ.PeSwi9th7VxfG_KqNLYDyO6GtdHL454iL4pREBOJErgtswaLbDzHkEtWBJoz8hJQ2aX52udbZZdVfxkJF4FA"
    "Bg";
inline constexpr UnixMillis kRecordedAt{1'795'821'917'152};
inline constexpr Millis kRecordedLife{60'000};

inline std::string signed_token(const Json& header, const Json& claims) {
  std::array<unsigned char, crypto_sign_SEEDBYTES> seed{};
  std::iota(seed.begin(), seed.end(), static_cast<unsigned char>(0));
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> open{};
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> secret{};
  crypto_sign_seed_keypair(open.data(), secret.data(), seed.data());
  const std::string text =
      base64url_encode(to_json_text(header)) + '.' + base64url_encode(to_json_text(claims));
  std::string signature(crypto_sign_BYTES, '\0');
  crypto_sign_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr,
                       reinterpret_cast<const unsigned char*>(text.data()), text.size(), secret.data());
  return text + '.' + base64url_encode(signature);
}

/// The claims of a request for `path`, as the server makes them.
inline JsonObject claims_for(std::string_view path, UnixMillis now) {
  const std::int64_t seconds = now.value / 1000;
  return {{"aud", path}, {"exp", seconds + 60}, {"iat", seconds}, {"nbf", seconds - 60}};
}

inline std::string token_for(std::string_view path, UnixMillis now) {
  return signed_token(JsonObject{{"typ", "JWT"}, {"alg", "EdDSA"}}, claims_for(path, now));
}

}  // namespace praxis::restate::testing
