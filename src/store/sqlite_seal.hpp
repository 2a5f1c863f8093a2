// Sealed files of `open_sqlite_file`. Each has a data key of its own, wrapped as that of a journal is, and a
// sealed sum of the values that it holds, so that a value that was removed, or an older one that was put
// back, is found when the file is opened.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/base/digest.hpp"
#include "praxis/base/time.hpp"
#include "store/sealed_text.hpp"
#include "store/sqlite_file.hpp"
#include "store/stored_seal.hpp"

namespace praxis {

/// The changes that one transaction makes to the sum of a sealed file; without effect on a plain one. The sum
/// adds up, without carry, a keyed digest of the nonce of each value, so it needs neither their order nor
/// the other values.
class SealSum {
 public:
  /// `database` must outlive this.
  explicit SealSum(Database& database) : database_(database) {}

  /// The file gets a value, or loses it; empty: nothing. The first bytes of the value are enough.
  void change(std::string_view sealed);
  /// Writes the new sum, within the transaction of the changes.
  Status store();

 private:
  Database& database_;
  std::optional<Digest> change_;  // nothing: no change
};

/// The error of a value that does not open: `corrupt`.
std::unexpected<Error> altered_value(const Database& database);

/// Makes the new file sealed, within the transaction that fills it. Errors of `secret`, `kJournal`.
Status seal_new_file(Database& database, const SqliteFileForm& form, const AskStoreSecret& secret);
/// Gives a connection to a sealed file its sealer, and checks the sum. Errors `key`, `corrupt`.
Status unlock_sqlite_file(Database& database, const SqliteFileForm& form, const AskStoreSecret& secret);

// ---- changing how a file is sealed

/// Called before each step with its name. What it does not return from is, for the file, a kill.
using OnStoreSealStep = std::function<void(std::string_view step)>;

/// How the file is sealed; nothing: it is plain. Errors as of `open_sqlite_file`, without the key.
Result<std::optional<StoredSeal>> seal_of_sqlite_file(const std::string& path, const SqliteFileForm& form);
/// Seals a plain file; of a sealed one checks the key and removes what a kill has left of older values. Each
/// of these is one transaction: a kill leaves the old state or the new one. Errors `lease_held` while another
/// connection has the file open, and as of `open_sqlite_file`.
Status seal_sqlite_file(const std::string& path, const SqliteFileForm& form, const SealSecret& secret,
                        UnixMillis now, const OnStoreSealStep& on_step = {});
/// Wraps the data key with another secret; no-op if that one opens it. Error also `key`.
Status rekey_sqlite_file(const std::string& path, const SqliteFileForm& form, const SealSecret& old_secret,
                         const SealSecret& new_secret, const OnStoreSealStep& on_step = {});
/// Makes a new data key and seals every value of a sealed file with it.
Status renew_sqlite_file_key(const std::string& path, const SqliteFileForm& form, const SealSecret& secret,
                             UnixMillis now, const OnStoreSealStep& on_step = {});

}  // namespace praxis
