#include "store/stored_seal.hpp"

namespace praxis {
namespace {

constexpr const char* kSealTable =
    "CREATE TABLE seal (store TEXT PRIMARY KEY, since INTEGER NOT NULL, wrapped BLOB NOT NULL, "
    "salt BLOB NOT NULL, passes INTEGER NOT NULL, memory INTEGER NOT NULL, clean INTEGER NOT NULL)";

}  // namespace

Status insert_stored_seal(Database& database, std::string_view store, const StoredSeal& seal) {
  if (auto made = database.run(kSealTable); !made) return made;
  auto inserted = database.run("INSERT INTO seal VALUES (?1, 0, x'', x'', 0, 0, 0)", store);
  return inserted ? update_stored_seal(database, store, seal) : inserted;
}

Status update_stored_seal(Database& database, std::string_view store, const StoredSeal& seal) {
  const auto& [bytes, cost] = seal.key;
  return database.run(
      "UPDATE seal SET since = ?1, wrapped = ?2, salt = ?3, passes = ?4, memory = ?5, clean = ?6 "
      "WHERE store = ?7",
      seal.since.value, StoredValue{bytes, true}, StoredValue{cost.salt, true}, cost.passes, cost.memory,
      std::int64_t{seal.is_clean ? 1 : 0}, store);
}

Result<StoredSeal> select_stored_seal(Database& database, std::string_view store) {
  Query query(database, "SELECT since, wrapped, salt, passes, memory, clean FROM seal WHERE store = ?1",
              store);
  const auto row = query.next();
  if (!row) return fail(row.error());
  if (!*row)
    return fail(make_error(ErrorCode::kJournal, ErrorKind::kCorrupt,
                           std::string(database.what()) + ' ' + database.path() + " has lost its data key"));
  return StoredSeal{{query.text(1), {query.text(2), query.number(3), query.number(4)}},
                    {query.integer(0)},
                    query.integer(5) != 0};
}

}  // namespace praxis
