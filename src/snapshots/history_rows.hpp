// The tables of a file history, and its rows as a plain and as a sealed file have them. `sealer` null: plain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"
#include "snapshots/file_history.hpp"
#include "store/sealed_text.hpp"
#include "store/sqlite_seal.hpp"

namespace praxis {

/// A change, and how the file has its path.
struct StoredChange {
  std::string stored_path;
  PathChange change;
};

/// `name`: as the file has it.
SealPlace content_place(const Digest& name);
Status write_content(Database& database, const Sealer* sealer, const Digest& digest, std::string_view bytes);

/// Returns the id. Adds the operation to the sum of the file.
Result<std::int64_t> insert_operation(Database& database, const FileOperation& operation,
                                      const std::optional<std::string>& states);
/// Notes the end, and forgets what was there before.
Status end_operation(Database& database, std::int64_t operation, std::uint64_t ended);
/// Reads the rows `id, session, effect, tool, time, after, began, ended, owner, places` of a statement. Error
/// `corrupt`: a value does not open.
template <class... Values>
Result<std::vector<FileOperation>> read_operations(Database& database, const Sealer* sealer,
                                                   std::string_view sql, const Values&... values);
/// What was there before; nothing: not stored, or no such operation.
Result<std::optional<std::string>> read_states(Database& database, const Sealer* sealer,
                                               std::int64_t operation);

Status write_change(Database& database, const Sealer* sealer, std::int64_t operation,
                    const PathChange& change, SealSum& sum);
/// In no order.
Result<std::vector<StoredChange>> read_changes(Database& database, const Sealer* sealer,
                                               std::int64_t operation);
Status drop_change(Database& database, std::int64_t operation, const std::string& path);
/// Takes all rows of a session out of the sum, before they are deleted.
Status take_from_sum(Database& database, const SessionId& session);

/// One row of `read_operations`. Error `corrupt`.
Result<FileOperation> operation_in(const Database& database, const Sealer* sealer, const Query& row);

template <class... Values>
Result<std::vector<FileOperation>> read_operations(Database& database, const Sealer* sealer,
                                                   std::string_view sql, const Values&... values) {
  Query query(database, sql, values...);
  std::vector<FileOperation> found;
  for (;;) {
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return found;
    auto operation = operation_in(database, sealer, query);
    if (!operation) return fail(std::move(operation.error()));
    found.push_back(*std::move(operation));
  }
}

}  // namespace praxis
