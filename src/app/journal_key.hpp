// The key of a sealed journal, from where the user's configuration says: `encryption.journal_key`.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "praxis/journal/journal.hpp"
#include "praxis/seal/secret.hpp"

namespace praxis::app {

/// Asks the user for a passphrase; the surface says how.
using AskPassphrase = std::function<Result<SecretBytes>()>;

/// Gets a key from `source`: one of `SecretSource` (app/secret_source.hpp), or
/// `passphrase`: the environment variable PRAXIS_JOURNAL_PASSPHRASE, else `ask`. Null for an empty source.
/// What it gives has errors `kInput`, which name the source and never the key.
AskSealSecret journal_secret(const std::string& source, AskPassphrase ask);

/// A key that was given once, for all stores of a process.
struct KeptSecret {
  std::mutex mutex;
  std::shared_ptr<const SealSecret> secret;  ///< null: not asked for yet
};
/// Asks `secret` once and keeps what it gives in `kept`. Null stays null. Thread-safe.
AskSealSecret kept_secret(AskSealSecret secret, std::shared_ptr<KeptSecret> kept);

/// Whether the form of a source is one of these. Error `kInput`.
Status check_key_source(const std::string& source);

}  // namespace praxis::app
