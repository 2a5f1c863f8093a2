#include "app/push_file.hpp"

#include <optional>
#include <utility>

#include "store/sealed_text.hpp"
#include "store/sqlite_seal.hpp"
#include "store/write_transaction.hpp"

namespace praxis::app {
namespace {

SealPlace push_place(std::int64_t number) { return SealPlace("push.address").add(number); }

std::string packed_address(const PushAddress& address) {
  return to_json_text(JsonObject{{"task", address.task},
                                 {"id", address.id},
                                 {"url", address.url},
                                 {"token", address.token},
                                 {"scheme", address.scheme},
                                 {"credentials", address.credentials}});
}

std::optional<PushAddress> unpacked_address(std::string_view text) {
  const auto json = parse_json(text);
  if (!json || !json->is_object()) return std::nullopt;
  return PushAddress{.task = json_string(*json, "task"),
                     .id = json_string(*json, "id"),
                     .url = json_string(*json, "url"),
                     .token = json_string(*json, "token"),
                     .scheme = json_string(*json, "scheme"),
                     .credentials = json_string(*json, "credentials")};
}

struct PushRow {
  std::int64_t number = 0;
  std::string stored;  ///< as the file has it
  PushAddress address;
};

/// Error `corrupt`: a value does not open.
Result<std::vector<PushRow>> read_push_rows(Database& database, const Sealer* sealer) {
  std::vector<PushRow> rows;
  Query query(database, "SELECT number, address FROM push ORDER BY number");
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!*row) return rows;
    const auto text = opened(sealer, query.bytes(1), push_place(query.integer(0)));
    auto address = text ? unpacked_address(*text) : std::nullopt;
    if (!address) return altered_value(database);
    rows.push_back({query.integer(0), query.text(1), *std::move(address)});
  }
}

Status reseal_push(Database& database, const Sealer* from, const Sealer& to) {
  const auto rows = read_push_rows(database, from);
  if (!rows) return fail(rows.error());
  for (const PushRow& row : *rows) {
    const std::string packed = packed_address(row.address);
    const SealedText sealed(&to, std::string_view(packed), push_place(row.number));
    if (auto done =
            database.run("UPDATE push SET address = ?2 WHERE number = ?1", row.number, sealed.value());
        !done)
      return done;
  }
  return {};
}

}  // namespace

const SqliteFileForm& push_form() {
  static constexpr SqliteFileForm kForm{
      "push",
      0x5052584E,  // "PRXN"
      1,          "CREATE TABLE push (number INTEGER PRIMARY KEY, address TEXT NOT NULL);",
      2,          "SELECT substr(address, 1, 25) FROM push",
      reseal_push};
  return kForm;
}

Result<std::unique_ptr<PushFile>> PushFile::open(const Workspace& workspace) {
  auto database = open_sqlite_file(push_path(workspace.journal), push_form(), true, seal_secret(workspace));
  if (!database) return fail(database.error());
  return std::make_unique<PushFile>(*std::move(database));
}

Result<std::vector<PushAddress>> PushFile::all() {
  const std::lock_guard lock(mutex_);
  auto rows = read_push_rows(database_, database_.sealer());
  if (!rows) return fail(std::move(rows.error()));
  std::vector<PushAddress> all;
  for (PushRow& row : *rows) all.push_back(std::move(row.address));
  return all;
}

Status PushFile::put(const PushAddress& address) {
  const std::lock_guard lock(mutex_);
  return in_write_transaction(database_, [&]() -> Status {
    if (auto gone = erase(address.task, address.id); !gone) return gone;
    if (auto added = database_.run("INSERT INTO push (address) VALUES ('')"); !added) return added;
    const std::int64_t number = sqlite3_last_insert_rowid(database_.handle());
    const std::string packed = packed_address(address);
    const SealedText sealed(database_.sealer(), std::string_view(packed), push_place(number));
    SealSum sum(database_);
    sum.change(sealed.sealed());
    auto stored = database_.run("UPDATE push SET address = ?2 WHERE number = ?1", number, sealed.value());
    return stored ? sum.store() : stored;
  });
}

Status PushFile::remove(const std::string& task, const std::string& id) {
  const std::lock_guard lock(mutex_);
  return in_write_transaction(database_, [&] { return erase(task, id); });
}

/// Within the caller's transaction.
Status PushFile::erase(const std::string& task, const std::string& id) {
  const auto rows = read_push_rows(database_, database_.sealer());
  if (!rows) return fail(rows.error());
  SealSum sum(database_);
  for (const PushRow& row : *rows) {
    if (row.address.task != task || row.address.id != id) continue;
    sum.change(row.stored);
    if (auto gone = database_.run("DELETE FROM push WHERE number = ?1", row.number); !gone) return gone;
  }
  return sum.store();
}

}  // namespace praxis::app
