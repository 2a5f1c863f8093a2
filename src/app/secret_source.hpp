// Where the user keeps a secret, and how it is read from there: a file, an environment variable, a command,
// or the keyring of the desktop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/seal/secret.hpp"

namespace praxis::app {

/// `file:PATH`, `env:NAME`, `command:COMMAND` (for the shell) or `keyring:SERVICE/ACCOUNT`.
struct SecretSource {
  enum class Kind : std::uint8_t { kFile, kVariable, kCommand, kKeyring };
  Kind kind = Kind::kFile;
  std::string place;  ///< path, name, command, or service and account

  /// Error `kInput`: of none of these forms.
  static Result<SecretSource> parse(std::string_view text);
  /// For messages: as it was written, but of a command only `command`, because it could hold a secret itself.
  std::string shown() const;

  bool operator==(const SecretSource&) const = default;
};

/// Reads what the source holds, at most `most` bytes, with its line end. A file must belong to this
/// user, and be for this user only. A command has the rights and the environment of the user, and a minute of
/// time; what it prints on standard error is not shown, because it could repeat the secret. Blocks. Error
/// `kInput`, which says what is wrong without the source, and never holds a part of the secret.
Result<SecretBytes> read_secret(const SecretSource& source, std::size_t most);

}  // namespace praxis::app
