// The durable journal. All changes go through the group commit; readers have connections of their own.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <unordered_map>

#include "journal/acknowledged.hpp"
#include "journal/blob_sweep.hpp"
#include "journal/group_commit.hpp"
#include "journal/inbox_store.hpp"
#include "journal/journal_file.hpp"
#include "journal/journal_keys.hpp"
#include "journal/log_evidence.hpp"
#include "journal/open_journals.hpp"
#include "journal/owners.hpp"
#include "journal/read_attempts.hpp"
#include "journal/session_labels.hpp"
#include "journal/session_removal.hpp"
#include "journal/session_store.hpp"
#include "journal/stored_journal.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/seal/secret.hpp"

namespace praxis {
namespace {

constexpr std::size_t kIdleReaders = 4;

/// Opens a connection for writing. A journal that lost its end is left unchanged: closing the last connection
/// would copy what is left of the log into the file and delete the rest.
Result<Database> open_intact(const std::string& path, std::shared_ptr<WriteQueue> queue = nullptr) {
  JournalHeads heads = acknowledged_heads(path);
  // Living writers know where their log ends.
  const auto behind_damage = Owners::any_alive_in(path) ? std::nullopt : entry_behind_damage_of(path);
  auto database = Database::open(path, Database::Mode::kWrite, std::move(queue));
  if (!database) return database;
  database->keep_log_on_close(true);
  if (behind_damage) heads.push_back(head_of(*database, *behind_damage));
  if (auto intact = check_acknowledged(*database, heads); !intact) return fail(std::move(intact.error()));
  database->keep_log_on_close(false);
  return database;
}

/// Opens and closes the file for writing. False if that fails.
bool reopen(const std::string& path) { return open_intact(path).has_value(); }

/// Copies and removes a log that no process uses. The last connection does so when it is closed; but when the
/// last two close at the same moment, each finds the file still locked by the other.
void tidy_up(const std::string& path) {
  constexpr int kMostMs = 20;
  const std::string log = path + "-wal";
  for (int tries = 0; access(log.c_str(), F_OK) == 0 && !Owners::any_alive_in(path); ++tries) {
    if (!reopen(path) || !try_again(tries, kMostMs)) return;
  }
}

class SqliteJournal final : public StoredJournal<SqliteJournal, Database> {
 public:
  /// Constructs a writable journal.
  SqliteJournal(std::string path, Owners owners, std::int64_t owner, Database database, HeadFile acknowledged,
                std::shared_ptr<JournalKeys> keys)
      : StoredJournal(std::move(path), true),
        keys_(std::move(keys)),
        open_(count_open_journal()),
        owners_(std::move(owners)),
        owner_(owner),
        places_(database.places()),
        writer_(GroupCommit::start(std::move(database), std::move(acknowledged))) {}
  /// Constructs a read-only journal.
  SqliteJournal(std::string path, std::shared_ptr<JournalKeys> keys)
      : StoredJournal(std::move(path), false), keys_(std::move(keys)) {}

  ~SqliteJournal() override {
    if (!writer_) return;
    writer_->stop();
    readers_.clear();
    writer_.reset();  // usually the last connection of this process
    owners_.reset();
    if (places_->what_happened().empty()) tidy_up(name());
  }

  Result<Lease> acquire(const SessionId& session, bool force) override {
    if (!writer_) return fail(read_only());
    Lease lease{session, 0};
    bool is_takeover = false;
    const auto held = [&](std::int64_t owner) {
      const bool is_held = !force && is_alive_(owner);
      is_takeover = !is_held && owner != 0 && owner != owner_;
      return is_held;
    };
    auto taken = writer_->run([&](Database& database) -> Status {
      for (const Lease& old : leases().kept(session)) {
        if (auto given = give_lease(database, old, owner_); !given) return given;
      }
      auto token = take_lease(database, session, owner_, held);
      if (!token) return fail(std::move(token.error()));
      lease.token = *token;
      return {};
    });
    if (!taken) return fail(std::move(taken.error()));
    leases().forget(session);
    meter().note_lease(session, is_takeover);
    return lease;
  }

  void release(const Lease& lease) override {
    meter().note_release(lease.session);
    if (!writer_ || leases().drop(lease)) return;
    writer_->push_lazily(
        [lease, owner = owner_, leases = shared_leases(), heads = heads_](Database& database) {
          heads->forget(lease.session);
          auto given = give_lease(database, lease, owner);
          if (!given) leases->keep(lease);  // the next write of the group may take this lease
          return given;
        },
        [lease, leases = shared_leases()](Status given) {
          if (!given) leases->keep(lease);
        });
  }

  void append(Append append, AppendDone done) override {
    if (!writer_) return done(fail(read_only()));
    auto [created, settle] = begin_append(append, std::move(done));
    writer_->push(
        [append = std::move(append), created, owner = owner_, heads = heads_](Database& database) -> Status {
          if (created) {
            if (auto made = insert_session(database, append, *created, owner); !made) return made;
          }
          return insert_append(database, append, owner, *heads);
        },
        std::move(settle));
  }

 private:
  friend StoredJournal;

  const IsAlive& living() const { return is_alive_; }
  std::int64_t owner() const { return owner_; }
  void await_queue() {
    std::ignore = writer_->run([](Database&) { return Status{}; });
  }

  template <class Made>
  std::invoke_result_t<Made, Database&> changing(Made change) {
    std::invoke_result_t<Made, Database&> made;
    auto done = writer_->run_durably([&](Database& database) -> Status {
      made = change(database);
      return made ? Status{} : fail(made.error());
    });
    if (!done) return fail(std::move(done.error()));
    return made;
  }

  /// Calls `select` with a connection that no other thread uses.
  template <class Select>
  std::invoke_result_t<Select, Database&> reading(Select select) {
    if (!writer_) {
      return ReadAttempts(name(), &excluded_).read([&](Database& database) {
        return unlocked(database, select);
      });
    }
    auto result = reading_apart(select);
    if (result || !is_taken_away(result.error())) return result;
    // The connection of the writer has the files that were taken away, and much of them in memory.
    auto read = writer_->run_reading([&](Database& database) -> Status {
      result = select(database);
      return result ? Status{} : fail(result.error());
    });
    return read ? std::move(result) : fail(std::move(read.error()));
  }

  /// Calls `select` with a connection that is new, and gets the keys for it first.
  template <class Select>
  std::invoke_result_t<Select, Database&> unlocked(Database& database, Select& select) {
    if (auto ready = keys_->unlock(database); !ready) return fail(std::move(ready.error()));
    return select(database);
  }

  /// Keeps some connections for later calls. Opens none to files that have taken the place of the journal's.
  template <class Select>
  std::invoke_result_t<Select, Database&> reading_apart(Select& select) {
    if (places_->index_is_cut()) return fail(taken_away(name(), places_->what_happened_to_index()));
    std::optional<Database> reader;
    {
      std::lock_guard lock(mutex_);
      if (!readers_.empty()) {
        reader = std::move(readers_.back());
        readers_.pop_back();
      }
    }
    const bool is_new = !reader;
    if (is_new) {
      auto opened = Database::open(name(), Database::Mode::kRead);
      if (auto happened = places_->what_happened(); !happened.empty())
        return fail(taken_away(name(), happened));
      if (!opened) return fail(std::move(opened.error()));
      reader = std::move(*opened);
    }
    auto result = is_new ? unlocked(*reader, select) : select(*reader);
    if (!result) {
      auto happened = places_->what_happened();
      if (happened.empty()) happened = what_happened_to_log(reader->handle());
      if (!happened.empty()) return fail(taken_away(name(), happened));
    }
    // A connection that cannot end its transaction would read this state of the journal for ever.
    if (reader->in_transaction()) return result;
    std::lock_guard lock(mutex_);
    if (readers_.size() < kIdleReaders) readers_.push_back(std::move(*reader));
    return result;
  }

  const std::shared_ptr<JournalKeys> keys_;
  const OpenJournal open_;        // null if read-only; destroyed last
  std::optional<Owners> owners_;  // present if `writer_` is: only when writable
  std::int64_t owner_ = 0;
  const std::shared_ptr<FilePlaces> places_;  // null if read-only
  const IsAlive is_alive_ = [this](std::int64_t owner) {
    if (!owners_) return Owners::alive_in(name(), owner);
    return owner == owner_ || owners_->alive(owner);  // our own lock does not conflict with us
  };
  std::shared_ptr<GroupCommit> writer_;
  const std::shared_ptr<KnownHeads> heads_ = std::make_shared<KnownHeads>();  // used by the committing thread
  std::atomic<bool> excluded_ = false;                                        // see `ReadAttempts`
  std::mutex mutex_;
  std::vector<Database> readers_;
};

/// Rewrites a log that no process uses: a crash left it, and its last sync may have failed unnoticed.
Status secure_left_log(Database& database, const Owners& owners) {
  const auto in_use = has_owner(database, owners);
  if (!in_use) return fail(in_use.error());
  return *in_use ? Status{} : database.rewrite_log();
}

LockWaits waits_of(const SqliteJournalOptions& options) {
  return {options.on_wait, options.stop_waiting, options.end_stopped_writer};
}

Error not_sealed(const std::string& path) {
  return journal_error(ErrorKind::kKey, "journal " + path +
                                            " is not sealed, although encryption.journal_key is set: seal it "
                                            "with praxis journal seal, or remove the setting");
}

Result<std::shared_ptr<Journal>> open_writable(const std::string& path, const SqliteJournalOptions& options) {
  auto locks = ByteLocks::open(path);
  if (!locks) return fail(std::move(locks.error()));
  auto database = open_intact(path, std::make_shared<WriteQueue>(path, *std::move(locks), waits_of(options)));
  if (!database) return fail(std::move(database.error()));
  if (auto upgraded = upgrade_journal_file(*database); !upgraded) return fail(std::move(upgraded.error()));
  auto owners = Owners::open(path);
  if (!owners) return fail(std::move(owners.error()));
  if (auto secured = secure_left_log(*database, *owners); !secured) return fail(std::move(secured.error()));
  auto owner = claim_owner(*database, *owners);
  if (!owner) return fail(std::move(owner.error()));
  auto keys = std::make_shared<JournalKeys>(path, options.key);
  // With the number claimed: another process may have sealed the journal up to here, and cannot from here on.
  if (auto unlocked = keys->unlock(*database); !unlocked) return fail(std::move(unlocked.error()));
  if (options.key && database->sealer() == nullptr) return fail(not_sealed(path));
  database->watch_files();
  auto acknowledged = HeadFile::open(path, *owner);
  if (!acknowledged) return fail(std::move(acknowledged.error()));
  return std::make_shared<SqliteJournal>(path, std::move(*owners), *owner, std::move(*database),
                                         std::move(*acknowledged), std::move(keys));
}

Result<std::shared_ptr<Journal>> open_read_only(const std::string& path,
                                                const SqliteJournalOptions& options) {
  auto keys = std::make_shared<JournalKeys>(path, options.key);
  const auto sealed = is_sealed_journal(path);
  if (!sealed) return fail(sealed.error());
  // The log may say what the header does not yet.
  if (*sealed || access((path + "-wal").c_str(), F_OK) == 0) {
    auto unlocked = ReadAttempts(path).read([&](Database& database) { return keys->unlock(database); });
    if (!unlocked && (*sealed || unlocked.error().kind() == ErrorKind::kKey))
      return fail(std::move(unlocked.error()));
  }
  return std::make_shared<SqliteJournal>(path, std::move(keys));
}

/// Asks once, however often it is called. Used by one thread until the journal is open, then by its keys,
/// which exclude each other.
AskSealSecret once(AskSealSecret ask) {
  if (!ask) return ask;
  using Secret = Result<std::shared_ptr<const SealSecret>>;
  return [ask = std::move(ask), asked = std::make_shared<std::optional<Secret>>()]() -> Secret {
    if (!*asked) *asked = ask();
    return **asked;
  };
}

/// Creates the journal if it is missing; sealed if there is a key.
Status create_missing(const std::string& path, const SqliteJournalOptions& options) {
  if (!options.key) return create_journal_file(path, waits_of(options));
  return create_journal_file(path, waits_of(options), [&](Database& database) -> Status {
    const auto secret = options.key();
    if (!secret)
      return fail(journal_error(ErrorKind::kKey,
                                "cannot seal the new journal " + path + ": " + secret.error().message));
    auto wrapped = wrap_key(SealKey::random(), **secret);
    if (!wrapped) return fail(std::move(wrapped.error()));
    return insert_seal(database, {*std::move(wrapped), system_environment()->now(), true});
  });
}

}  // namespace

Result<std::shared_ptr<Journal>> sqlite_journal(const std::string& path, SqliteJournalOptions options) {
  options.key = once(std::move(options.key));
  std::error_code failed;
  auto file = std::filesystem::absolute(path, failed).lexically_normal();
  if (options.create && !options.read_only) {
    auto made = create_missing(file.string(), options);
    if (!made) return fail(std::move(made.error()));
  }
  // Use one canonical name per file, so that every process finds the same files next to it.
  if (auto resolved = std::filesystem::canonical(file, failed); !failed) file = std::move(resolved);
  if (auto ours = check_journal_file(file.string()); !ours) return fail(std::move(ours.error()));
  if (options.read_only) return open_read_only(file.string(), options);
  return open_writable(file.string(), options);
}

}  // namespace praxis
