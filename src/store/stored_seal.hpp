// The data key of a sealed SQLite file, as its table `seal` has it.
#pragma once

#include <string_view>

#include "praxis/base/time.hpp"
#include "seal/wrapped_key.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// The row of the table `seal`.
struct StoredSeal {
  WrappedKey key;
  UnixMillis since;       ///< when the data key was made
  bool is_clean = false;  ///< whether nothing is left in the file of what was there before
};

/// Creates the table with the row of `store`, within the caller's transaction.
Status insert_stored_seal(Database& database, std::string_view store, const StoredSeal& seal);
/// Replaces the row.
Status update_stored_seal(Database& database, std::string_view store, const StoredSeal& seal);
/// Error `corrupt` if the table or the row is missing.
Result<StoredSeal> select_stored_seal(Database& database, std::string_view store);

}  // namespace praxis
