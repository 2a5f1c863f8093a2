// The data key of a sealed journal: how the file has it, and how connections get it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "praxis/journal/journal.hpp"
#include "praxis/seal/secret.hpp"
#include "seal/sealer.hpp"
#include "store/sqlite.hpp"
#include "store/stored_seal.hpp"

namespace praxis {

/// Makes the journal a sealed one, within the caller's transaction; its values are sealed by the caller.
Status insert_seal(Database& database, const StoredSeal& seal);
/// Replaces the row.
Status update_seal(Database& database, const StoredSeal& seal);
/// Nothing: the journal is plain. Error `corrupt`.
Result<std::optional<StoredSeal>> select_seal(Database& database);

/// Opens a journal's data key for its connections, once for the process. Thread-safe.
class JournalKeys {
 public:
  /// `secret` is asked when the journal turns out to be sealed, never by two threads at once; null: there is
  /// no key.
  JournalKeys(std::string journal, AskSealSecret secret)
      : journal_(std::move(journal)), ask_(std::move(secret)) {}

  /// Gives the connection its sealer; no-op for a plain journal. Error `key`, which says what to set.
  Status unlock(Database& database);

 private:
  Result<std::shared_ptr<const Sealer>> sealer_for(const StoredSeal& seal);

  const std::string journal_;
  const AskSealSecret ask_;
  std::mutex mutex_;
  std::string opened_;  // the wrapped key of `sealer_`
  std::shared_ptr<const Sealer> sealer_;
};

/// Opens the data key of the journal at `path`. Errors `key`.
Result<SealKey> unwrap_journal_key(const std::string& path, const StoredSeal& seal, const SealSecret& secret);

}  // namespace praxis
