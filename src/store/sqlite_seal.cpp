#include "store/sqlite_seal.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "praxis/base/environment.hpp"
#include "store/write_transaction.hpp"

namespace praxis {
namespace {

constexpr std::size_t kNonceEnd = 1 + 24;
constexpr const char* kSumTable = "CREATE TABLE seal_sum (sum BLOB NOT NULL)";

SealPlace sum_place() { return SealPlace("seal_sum.sum"); }

std::unexpected<Error> seal_error(const Database& database, ErrorKind kind, const std::string& what) {
  return fail(
      make_error(ErrorCode::kJournal, kind, std::string(database.what()) + ' ' + database.path() + what));
}

std::unexpected<Error> no_key_for(const Database& database, const std::string& what) {
  return seal_error(database, ErrorKind::kKey, " is sealed" + what);
}

void add_without_carry(Digest& sum, const Digest& other) {
  for (std::size_t i = 0; i < sum.bytes.size(); ++i) sum.bytes[i] ^= other.bytes[i];
}

Digest term_of(const Sealer& sealer, std::string_view sealed) {
  return sealer.name_of(digest_of(sealed.substr(0, kNonceEnd)));
}

std::string_view text_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

Result<Digest> sum_of_values(Database& database, const SqliteFileForm& form, const Sealer& sealer) {
  Digest sum{};
  Query query(database, form.sealed_values);
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!*row) return sum;
    add_without_carry(sum, term_of(sealer, query.bytes(0)));
  }
}

Result<Digest> stored_sum(Database& database, const Sealer& sealer) {
  Query query(database, "SELECT sum FROM seal_sum");
  const auto row = query.next();
  if (!row) return fail(row.error());
  const auto opened = *row ? sealer.open(query.bytes(0), sum_place()) : std::nullopt;
  Digest sum{};
  if (!opened || opened->size() != sum.bytes.size()) return altered_value(database);
  opened->copy(reinterpret_cast<char*>(sum.bytes.data()), sum.bytes.size());
  return sum;
}

Status write_sum(Database& database, const Sealer& sealer, const Digest& sum) {
  const std::string sealed = sealer.seal(text_of(sum), sum_place());
  return database.run("UPDATE seal_sum SET sum = ?1", StoredValue{sealed, true});
}

Status check_sum(Database& database, const SqliteFileForm& form, const Sealer& sealer) {
  const auto stored = stored_sum(database, sealer);
  if (!stored) return fail(stored.error());
  const auto found = sum_of_values(database, form, sealer);
  if (!found) return fail(found.error());
  if (*stored == *found) return {};
  return seal_error(database, ErrorKind::kCorrupt,
                    ": it does not hold what was written last: a value was altered or removed, or an older "
                    "one was put back; take the file from a copy");
}

/// Adds the tables of a sealed file, with an empty sum, and gives it the format.
Status add_seal(Database& database, const SqliteFileForm& form, const StoredSeal& seal) {
  auto done = insert_stored_seal(database, form.what, seal);
  if (done) done = database.run(kSumTable);
  if (done) done = database.run("INSERT INTO seal_sum VALUES (x'')");
  if (!done) return done;
  const std::string mark = "PRAGMA user_version = " + std::to_string(form.sealed_format);
  if (sqlite3_exec(database.handle(), mark.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail(database.error());
}

Result<SealKey> key_of(const Database& database, const StoredSeal& seal, const SealSecret& secret) {
  auto key = unwrap_key(seal.key, secret);
  if (key) return key;
  return no_key_for(
      database, ", and the key that encryption.journal_key gives does not open it: " + key.error().message);
}

/// The sealer of a file. A passphrase takes half a second to make a key of, and a server opens stores for
/// each request: so the last sealers are kept, each for the secret that opened it, as long as that one
/// exists.
Result<std::shared_ptr<const Sealer>> sealer_of(const Database& database, const StoredSeal& seal,
                                                const std::shared_ptr<const SealSecret>& secret) {
  struct Kept {
    std::string wrapped;
    std::weak_ptr<const SealSecret> secret;
    std::shared_ptr<const Sealer> sealer;
  };
  constexpr std::size_t kMostKept = 16;
  static std::mutex mutex;
  static auto& all = *new std::deque<Kept>;  // never destroyed: a thread may open a store until the end
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const Kept& kept) { return kept.secret.expired(); });
  for (const Kept& kept : all) {
    if (kept.wrapped == seal.key.bytes && kept.secret.lock() == secret) return kept.sealer;
  }
  const auto key = key_of(database, seal, *secret);
  if (!key) return fail(key.error());
  all.push_back({seal.key.bytes, secret, std::make_shared<const Sealer>(*key)});
  if (all.size() > kMostKept) all.pop_front();
  return all.back().sealer;
}

// ---- changing how a file is sealed

void store_step(const OnStoreSealStep& on_step, std::string_view name) {
  if (on_step) on_step(name);
}

/// Runs a pragma that answers with one row; true if the row is `wanted`.
Result<bool> pragma_gives(Database& database, std::string_view pragma, std::string_view wanted) {
  Query query(database, pragma);
  const auto row = query.next();
  if (!row) return fail(row.error());
  return *row && query.bytes(0) == wanted;
}

/// Opens the file as its only user until the connection is closed. Only an exclusive lock shows that no other
/// connection is open: each of them holds a shared one.
Result<Database> open_only(const std::string& path, const SqliteFileForm& form,
                           const OnStoreSealStep& on_step) {
  auto database = Database::open(path, Database::Mode::kWrite, nullptr, form.what);
  if (!database) return database;
  if (const auto kind = kind_of_sqlite_file(*database, form); !kind) return fail(kind.error());
  constexpr int kWaitMs = 200;
  database->wait_for_locks<kWaitMs>();
  if (const auto set = pragma_gives(*database, "PRAGMA locking_mode = EXCLUSIVE", "exclusive"); !set)
    return fail(set.error());
  const auto alone = pragma_gives(*database, "PRAGMA journal_mode = TRUNCATE", "truncate");
  const bool is_in_use = alone ? !*alone : (sqlite3_errcode(database->handle()) & 0xff) == SQLITE_BUSY;
  if (is_in_use)
    return seal_error(*database, ErrorKind::kLeaseHeld, " is open in another process; stop its runs first");
  if (!alone) return fail(alone.error());
  store_step(on_step, "log");
  if (const auto logs = pragma_gives(*database, "PRAGMA journal_mode = WAL", "wal"); !logs)
    return fail(logs.error());
  if (auto set = database->run("PRAGMA secure_delete = ON"); !set) return fail(set.error());
  if (auto set = database->run("PRAGMA temp_store = MEMORY"); !set) return fail(set.error());
  return database;
}

Status empty_log_of(Database& database) {
  Query query(database, "PRAGMA wal_checkpoint(TRUNCATE)");
  const auto row = query.next();
  return row ? Status{} : fail(row.error());
}

/// Removes what the file and its log still have of the values that were replaced, then says so in the row.
Status purge_file(Database& database, const SqliteFileForm& form, StoredSeal seal,
                  const OnStoreSealStep& on_step) {
  store_step(on_step, "purge");
  auto done = empty_log_of(database);
  store_step(on_step, "rewrite");
  if (done) done = database.run("VACUUM");
  store_step(on_step, "empty the log");
  if (done) done = empty_log_of(database);
  store_step(on_step, "note");
  seal.is_clean = true;
  if (done) done = update_stored_seal(database, form.what, seal);
  return done ? empty_log_of(database) : done;
}

template <class Change>
Status change_file(Database& database, const OnStoreSealStep& on_step, Change change) {
  return in_write_transaction(database, [&] {
    auto changed = change();
    store_step(on_step, "commit");
    return changed;
  });
}

/// Seals all values with a new data key; `from` null: they are plain.
Status reseal_file(Database& database, const SqliteFileForm& form, const Sealer* from,
                   const SealSecret& secret, UnixMillis now, const OnStoreSealStep& on_step) {
  const SealKey data_key = SealKey::random();
  auto wrapped = wrap_key(data_key, secret);
  if (!wrapped) return fail(std::move(wrapped.error()));
  const StoredSeal seal{*std::move(wrapped), now, false};
  const Sealer to(data_key);
  auto changed = change_file(database, on_step, [&]() -> Status {
    store_step(on_step, "values");
    if (auto done = form.reseal(database, from, to); !done) return done;
    store_step(on_step, "key");
    auto stored =
        from == nullptr ? add_seal(database, form, seal) : update_stored_seal(database, form.what, seal);
    if (!stored) return stored;
    const auto sum = sum_of_values(database, form, to);
    return sum ? write_sum(database, to, *sum) : fail(sum.error());
  });
  return changed ? purge_file(database, form, seal, on_step) : changed;
}

struct OpenedFile {
  Database database;
  StoredSeal seal;
};

Result<OpenedFile> open_sealed_only(const std::string& path, const SqliteFileForm& form,
                                    const OnStoreSealStep& on_step) {
  auto database = open_only(path, form, on_step);
  if (!database) return fail(database.error());
  const auto kind = kind_of_sqlite_file(*database, form);
  if (!kind) return fail(kind.error());
  if (*kind == SqliteFileKind::kPlain)
    return seal_error(*database, ErrorKind::kKey, " is not sealed; praxis journal seal seals it");
  auto seal = select_stored_seal(*database, form.what);
  if (!seal) return fail(seal.error());
  return OpenedFile{*std::move(database), *std::move(seal)};
}

}  // namespace

void SealSum::change(std::string_view sealed) {
  if (database_.sealer() == nullptr || sealed.empty()) return;
  if (!change_) change_ = Digest{};
  add_without_carry(*change_, term_of(*database_.sealer(), sealed));
}

Status SealSum::store() {
  if (!change_) return {};
  auto sum = stored_sum(database_, *database_.sealer());
  if (!sum) return fail(sum.error());
  add_without_carry(*sum, *change_);
  change_.reset();
  return write_sum(database_, *database_.sealer(), *sum);
}

std::unexpected<Error> altered_value(const Database& database) {
  return seal_error(database, ErrorKind::kCorrupt,
                    ": a sealed value does not open: it was altered, cut, or moved from another place; take "
                    "the file from a copy");
}

Status seal_new_file(Database& database, const SqliteFileForm& form, const AskStoreSecret& secret) {
  const auto given = secret();
  if (!given) return fail(given.error());
  const SealKey data_key = SealKey::random();
  auto wrapped = wrap_key(data_key, **given);
  if (!wrapped) return fail(std::move(wrapped.error()));
  const StoredSeal seal{*std::move(wrapped), system_environment()->now(), true};
  const Sealer sealer(data_key);
  // Tables that only a sealed file has.
  if (auto made = form.reseal(database, nullptr, sealer); !made) return made;
  if (auto added = add_seal(database, form, seal); !added) return added;
  return write_sum(database, sealer, Digest{});
}

Status unlock_sqlite_file(Database& database, const SqliteFileForm& form, const AskStoreSecret& secret) {
  const auto seal = select_stored_seal(database, form.what);
  if (!seal) return fail(seal.error());
  if (!secret)
    return no_key_for(database,
                      ", and no key is set: give one with encryption.journal_key in your configuration");
  const auto given = secret();
  if (!given) return no_key_for(database, ", and its key is not there: " + given.error().message);
  auto opened = sealer_of(database, *seal, *given);
  if (!opened) return fail(opened.error());
  std::shared_ptr<const Sealer> sealer = *std::move(opened);
  // Within a transaction, so that the sum is that of these values.
  if (auto begun = database.run("BEGIN"); !begun) return begun;
  auto checked = check_sum(database, form, *sealer);
  auto ended = database.run("COMMIT");
  if (!checked) return checked;
  database.set_sealer(std::move(sealer));
  return ended;
}

Result<std::optional<StoredSeal>> seal_of_sqlite_file(const std::string& path, const SqliteFileForm& form) {
  auto database = Database::open(path, Database::Mode::kWrite, nullptr, form.what);
  if (!database) return fail(database.error());
  const auto kind = kind_of_sqlite_file(*database, form);
  if (!kind) return fail(kind.error());
  if (*kind == SqliteFileKind::kPlain) return std::nullopt;
  auto seal = select_stored_seal(*database, form.what);
  if (!seal) return fail(seal.error());
  return *std::move(seal);
}

Status seal_sqlite_file(const std::string& path, const SqliteFileForm& form, const SealSecret& secret,
                        UnixMillis now, const OnStoreSealStep& on_step) {
  const auto present = seal_of_sqlite_file(path, form);
  if (!present) return fail(present.error());
  if (!*present) {
    auto database = open_only(path, form, on_step);
    if (!database) return fail(database.error());
    return reseal_file(*database, form, nullptr, secret, now, on_step);
  }
  // Only the file that has something to remove needs to be closed elsewhere.
  if ((*present)->is_clean) {
    auto database = Database::open(path, Database::Mode::kWrite, nullptr, form.what);
    if (!database) return fail(database.error());
    const auto key = key_of(*database, **present, secret);
    return key ? Status{} : fail(key.error());
  }
  auto sealed = open_sealed_only(path, form, on_step);
  if (!sealed) return fail(sealed.error());
  if (const auto key = key_of(sealed->database, sealed->seal, secret); !key) return fail(key.error());
  return purge_file(sealed->database, form, sealed->seal, on_step);
}

Status rekey_sqlite_file(const std::string& path, const SqliteFileForm& form, const SealSecret& old_secret,
                         const SealSecret& new_secret, const OnStoreSealStep& on_step) {
  auto sealed = open_sealed_only(path, form, on_step);
  if (!sealed) return fail(sealed.error());
  auto& [database, seal] = *sealed;
  // A kill may have come between two stores.
  if (unwrap_key(seal.key, new_secret))
    return seal.is_clean ? Status{} : purge_file(database, form, seal, on_step);
  const auto key = key_of(database, seal, old_secret);
  if (!key) return fail(key.error());
  auto wrapped = wrap_key(*key, new_secret);
  if (!wrapped) return fail(std::move(wrapped.error()));
  const StoredSeal renewed{*std::move(wrapped), seal.since, false};
  Database& file = database;
  auto changed = change_file(file, on_step, [&] {
    store_step(on_step, "key");
    return update_stored_seal(file, form.what, renewed);
  });
  return changed ? purge_file(file, form, renewed, on_step) : changed;
}

Status renew_sqlite_file_key(const std::string& path, const SqliteFileForm& form, const SealSecret& secret,
                             UnixMillis now, const OnStoreSealStep& on_step) {
  auto sealed = open_sealed_only(path, form, on_step);
  if (!sealed) return fail(sealed.error());
  const auto key = key_of(sealed->database, sealed->seal, secret);
  if (!key) return fail(key.error());
  const Sealer from(*key);
  if (auto checked = check_sum(sealed->database, form, from); !checked) return checked;
  return reseal_file(sealed->database, form, &from, secret, now, on_step);
}

}  // namespace praxis
