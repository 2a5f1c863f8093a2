// How agent files name secrets: `secret:NAME`, at the end of the value of a header or a variable.
#pragma once

#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis::app {

inline constexpr std::string_view kSecretReference = "secret:";

/// A value, with a secret at its end or without one.
struct SecretText {
  std::string before;  ///< what is written before the secret, such as `Bearer `; without one: all of it
  std::string secret;  ///< its name; empty: no secret
};

/// Reads `secret:github` and `Bearer secret:github`; a text without `secret:` is plain. Error `kInput`: the
/// secret is not the last word.
Result<SecretText> read_secret_text(std::string_view text);

}  // namespace praxis::app
