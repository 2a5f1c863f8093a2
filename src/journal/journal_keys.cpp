#include "journal/journal_keys.hpp"

#include <utility>

#include "journal/chain.hpp"
#include "journal/journal_file.hpp"

namespace praxis {
namespace {

constexpr const char* kSealTable =
    "CREATE TABLE seal (store TEXT PRIMARY KEY, since INTEGER NOT NULL, wrapped BLOB NOT NULL, "
    "salt BLOB NOT NULL, passes INTEGER NOT NULL, memory INTEGER NOT NULL, clean INTEGER NOT NULL)";

Error no_key(const std::string& path, const std::string& what) {
  return journal_error(ErrorKind::kKey, "journal " + path + " is sealed" + what);
}

}  // namespace

Status insert_seal(Database& database, const StoredSeal& seal) {
  if (auto made = database.run(kSealTable); !made) return made;
  auto inserted = database.run("INSERT INTO seal VALUES ('journal', 0, x'', x'', 0, 0, 0)");
  if (!inserted) return inserted;
  if (auto updated = update_seal(database, seal); !updated) return updated;
  return mark_as_sealed(database);
}

Status update_seal(Database& database, const StoredSeal& seal) {
  const auto& [bytes, cost] = seal.key;
  return database.run(
      "UPDATE seal SET since = ?1, wrapped = ?2, salt = ?3, passes = ?4, memory = ?5, clean = ?6 "
      "WHERE store = 'journal'",
      seal.since.value, StoredValue{bytes, true}, StoredValue{cost.salt, true}, cost.passes, cost.memory,
      std::int64_t{seal.is_clean ? 1 : 0});
}

Result<std::optional<StoredSeal>> select_seal(Database& database) {
  const auto sealed = is_marked_as_sealed(database);
  if (!sealed) return fail(sealed.error());
  if (!*sealed) return std::nullopt;
  Query query(database,
              "SELECT since, wrapped, salt, passes, memory, clean FROM seal WHERE store = 'journal'");
  const auto row = query.next();
  if (!row) return fail(row.error());
  if (!*row)
    return fail(journal_error(ErrorKind::kCorrupt, "journal " + database.path() + " has lost its data key"));
  return StoredSeal{{query.text(1), {query.text(2), query.number(3), query.number(4)}},
                    {query.integer(0)},
                    query.integer(5) != 0};
}

Result<SealKey> unwrap_journal_key(const std::string& path, const StoredSeal& seal,
                                   const SealSecret& secret) {
  auto key = unwrap_key(seal.key, secret);
  if (key) return key;
  return fail(no_key(
      path, ", and the key that encryption.journal_key gives does not open it: " + key.error().message));
}

Result<std::shared_ptr<const Sealer>> JournalKeys::sealer_for(const StoredSeal& seal) {
  const std::lock_guard lock(mutex_);
  if (sealer_ && opened_ == seal.key.bytes) return sealer_;
  if (!ask_)
    return fail(
        no_key(journal_, ", and no key is set: give one with encryption.journal_key in your configuration"));
  const auto secret = ask_();
  if (!secret) return fail(no_key(journal_, ", and its key is not there: " + secret.error().message));
  const auto key = unwrap_journal_key(journal_, seal, **secret);
  if (!key) return fail(key.error());
  sealer_ = std::make_shared<const Sealer>(*key);
  opened_ = seal.key.bytes;
  return sealer_;
}

Status JournalKeys::unlock(Database& database) {
  const auto seal = select_seal(database);
  if (!seal) return fail(seal.error());
  if (!*seal) return {};
  auto sealer = sealer_for(**seal);
  if (!sealer) return fail(std::move(sealer.error()));
  database.set_sealer(*std::move(sealer));
  return {};
}

}  // namespace praxis
