// JSON Web Tokens in the compact form (RFC 7519, RFC 7515), taken apart.
#pragma once

#include <string>
#include <string_view>

#include "praxis/json/json.hpp"

namespace praxis {

/// Nothing of it is verified.
struct WebToken {
  std::string signed_part;  ///< the bytes that the signature is of
  Json header, claims;      ///< objects
  std::string signature;
};

/// Longer texts are not tokens.
inline constexpr std::size_t kMostWebToken = std::size_t{16} * 1024;

/// Error `kInput`, which never holds a part of the text: it is not of this form, too long, or an object in it
/// has a key twice, which readers understand in different ways.
Result<WebToken> read_web_token(std::string_view text);

}  // namespace praxis
