// Creates and opens SQLite files with tables of their own: complete or not at all, for the user alone. With
// a key their values are sealed (docs/encryption.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/seal/secret.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// What a file of one kind is.
struct SqliteFileForm {
  std::string_view what;            ///< what messages call it; a literal
  std::int64_t application_id = 0;  ///< tells it from other SQLite files
  std::int64_t format = 0;
  std::string_view tables;         ///< the script that creates them; a literal
  std::int64_t sealed_format = 0;  ///< of a sealed file, which older versions of Praxis refuse
  /// Selects the beginnings, of at least 25 bytes, of all sealed values that the sum of the
  /// file covers (`SealSum`); a literal.
  std::string_view sealed_values = {};
  /// Opens every value of the file with one sealer (null: it is plain) and seals it with another, within the
  /// caller's transaction.
  Status (*reseal)(Database& database, const Sealer* from, const Sealer& to) = nullptr;
};

/// Gives what opens sealed files, or says why it is not there. Null: there is no key, files are plain.
using AskStoreSecret = std::function<Result<std::shared_ptr<const SealSecret>>()>;

/// Opens the file for reading and writing; with `create` makes it (mode 0600) and its folders (mode 0700) if
/// it is missing. With `secret` a new file is sealed, and the connection has its sealer. Errors `kJournal`:
/// `not_found`, `corrupt` (of another kind; values altered, removed or put back), `version` (of a newer
/// Praxis), `key` (sealed and no key or a wrong one; plain and there is a key), `full`, `io`.
Result<Database> open_sqlite_file(const std::string& path, const SqliteFileForm& form, bool create = true,
                                  const AskStoreSecret& secret = {});

/// What a file is, from its header.
enum class SqliteFileKind : bool { kPlain, kSealed };
/// Errors `corrupt`, `version`, as above.
Result<SqliteFileKind> kind_of_sqlite_file(Database& database, const SqliteFileForm& form);

}  // namespace praxis
