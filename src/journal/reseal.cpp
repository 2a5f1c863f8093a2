#include "journal/reseal.hpp"

#include <map>
#include <utility>
#include <vector>

#include "journal/acknowledged.hpp"
#include "journal/chain.hpp"
#include "journal/journal_file.hpp"
#include "journal/owners.hpp"
#include "journal/read_attempts.hpp"
#include "journal/sealed_values.hpp"
#include "journal/session_store.hpp"
#include "store/write_transaction.hpp"

namespace praxis {
namespace {

/// How many rows are in memory at once.
constexpr std::int64_t kRowsAtOnce = 200;

/// Rewrites the values of a journal, within one transaction: opens each with one sealer (null: it is plain)
/// and seals it with another. The chains are made over the new bytes.
class Resealing {
 public:
  Resealing(Database& database, const Sealer* from, const Sealer& to)
      : database_(database), from_(from), to_(to) {}

  Status run(const OnSealStep& on_step) {
    const std::pair<const char*, Status (Resealing::*)()> parts[] = {{"sessions", &Resealing::sessions},
                                                                     {"entries", &Resealing::entries},
                                                                     {"heads", &Resealing::heads},
                                                                     {"blobs", &Resealing::blobs},
                                                                     {"messages", &Resealing::messages}};
    for (const auto& [name, part] : parts) {
      if (on_step) on_step(name);
      if (auto done = (this->*part)(); !done) return done;
    }
    return {};
  }

 private:
  struct Chain {
    SessionId name;
    std::uint64_t seq = 0;
    Digest before, after;  ///< the hash of the last entry before and after
  };
  struct Row {
    std::int64_t id = 0, session = 0;
    Entry entry;
  };
  struct Message {
    InboxId id = 0;
    SessionId to;
    UnixMillis time;
    std::string body;
    std::optional<std::string> outcome;
  };

  Error damaged(const std::string& what) const {
    return journal_error(ErrorKind::kCorrupt, "journal " + database_.path() +
                                                  " has damage, so it stays as "
                                                  "it was: " +
                                                  what + "; praxis doctor says more");
  }

  /// Calls `read` for each row of a query.
  template <class Read, class... Values>
  Status each(std::string_view sql, Read read, const Values&... values) {
    Query query(database_, sql, values...);
    auto row = query.next();
    for (; row && *row; row = query.next()) read(query);
    return row ? Status{} : fail(std::move(row.error()));
  }

  /// The value under the new seal. Error `corrupt`.
  Result<std::string> renewed(std::string_view stored, const SealPlace& place,
                              const std::string& what) const {
    const auto value = opened(from_, stored, place);
    if (!value) return fail(damaged(what + " does not open"));
    return to_.seal(*value, place);
  }

  Status sessions() {
    std::vector<std::pair<std::int64_t, std::vector<std::string>>> rows;
    auto read =
        each("SELECT id, name, agent, model, title, label, tags FROM sessions", [&](const Query& row) {
          const SessionId name(row.text(1));
          chains_[row.integer(0)] = {name, 0, chain_start(name), chain_start(name)};
          std::vector<std::string> values;
          for (int column = 2; column <= 6; ++column) values.push_back(row.text(column));
          rows.emplace_back(row.integer(0), std::move(values));
        });
    if (!read) return read;
    constexpr std::string_view kSealedColumns[] = {"agent", "model", "title", "label", "tags"};
    for (auto& [id, values] : rows) {
      const SessionId& name = chains_[id].name;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].empty()) continue;
        auto value =
            renewed(values[i], row_place(kSealedColumns[i], name), "the row of session " + name.str());
        if (!value) return fail(std::move(value.error()));
        values[i] = *std::move(value);
      }
      const auto stored = [&](std::size_t i) { return StoredValue{values[i], !values[i].empty()}; };
      auto set = database_.run(
          "UPDATE sessions SET agent = ?2, model = ?3, title = ?4, label = ?5, tags = ?6 WHERE id = ?1", id,
          stored(0), stored(1), stored(2), stored(3), stored(4));
      if (!set) return set;
    }
    return {};
  }

  /// The entries of all sessions in the order of their ids, which is the order within each session.
  Status entries() {
    std::vector<Row> rows;
    for (std::int64_t last = 0;; last = rows.back().id) {
      rows.clear();
      auto read = each(
          "SELECT id, session, seq, time, kind, body, hash FROM chain WHERE id > ?1 ORDER BY id LIMIT ?2",
          [&](const Query& row) {
            rows.push_back({row.integer(0),
                            row.integer(1),
                            {row.number(2), row.text(4), {row.integer(3)}, row.text(5), row.digest(6)}});
          },
          last, kRowsAtOnce);
      if (!read || rows.empty()) return read;
      for (Row& row : rows) {
        if (auto done = entry(row); !done) return done;
      }
    }
  }

  Status entry(Row& row) {
    const auto found = chains_.find(row.session);
    if (found == chains_.end()) return {};  // what is left of a removed session has no body
    Chain& chain = found->second;
    auto& [seq, kind, time, body, hash] = row.entry;
    chain.before = chain_next(chain.before, ++chain.seq, time, kind, body);
    if (seq != chain.seq || hash != chain.before)
      return fail(damaged("session " + chain.name.str() + " from record " + std::to_string(chain.seq)));
    auto sealed = renewed(body, entry_place(chain.name, seq, time, kind),
                          "record " + std::to_string(seq) + " of session " + chain.name.str());
    if (!sealed) return fail(std::move(sealed.error()));
    chain.after = chain_next(chain.after, seq, time, kind, *sealed);
    return database_.run("UPDATE chain SET body = ?2, hash = ?3 WHERE id = ?1", row.id,
                         StoredValue{*sealed, true}, chain.after);
  }

  Status heads() {
    std::map<std::int64_t, std::pair<std::uint64_t, Digest>> stored;
    auto read = each("SELECT id, head_seq, head_hash FROM sessions",
                     [&](const Query& row) { stored[row.integer(0)] = {row.number(1), row.digest(2)}; });
    if (!read) return read;
    for (const auto& [id, chain] : chains_) {
      const auto& [seq, hash] = stored[id];
      if (seq != chain.seq || hash != chain.before)
        return fail(damaged("session " + chain.name.str() + " lost its end"));
      auto set = database_.run("UPDATE sessions SET head_hash = ?2 WHERE id = ?1", id, chain.after);
      if (!set) return set;
    }
    return {};
  }

  Status blobs() {
    std::vector<Digest> names;
    if (auto read =
            each("SELECT digest FROM blobs", [&](const Query& row) { names.push_back(row.digest(0)); });
        !read)
      return read;
    for (const Digest& name : names) {
      if (auto done = blob(name); !done) return done;
    }
    return {};
  }

  /// The file has no digest of a sealed blob: it follows from the content, whose place needs it. So the place
  /// of a blob is the name under which the file has it.
  Status blob(const Digest& name) {
    std::string stored;
    auto read = each(
        "SELECT bytes FROM blobs WHERE digest = ?1", [&](const Query& row) { stored = row.text(0); }, name);
    if (!read) return read;
    const auto bytes = opened(from_, stored, blob_place(name));
    const std::string what = "blob " + name.hex();
    if (!bytes) return fail(damaged(what + " does not open"));
    const Digest digest = digest_of(*bytes);
    if (stored_name(from_, digest) != name) return fail(damaged(what));
    if (auto gone = database_.run("DELETE FROM blobs WHERE digest = ?1", name); !gone) return gone;
    const Digest renamed = to_.name_of(digest);
    return database_.run("INSERT INTO blobs (digest, bytes) VALUES (?1, CAST(?2 AS BLOB))", renamed,
                         StoredValue{to_.seal(*bytes, blob_place(renamed)), true});
  }

  Status messages() {
    std::vector<Message> all;
    auto read = each(
        "SELECT m.id, coalesce(s.name, ''), m.time, m.body, m.outcome, m.answered IS NOT NULL FROM mail m "
        "LEFT "
        "JOIN sessions s ON s.id = m.session",
        [&](const Query& row) {
          const bool answered = row.integer(5) != 0;
          all.push_back({row.number(0),
                         SessionId(row.text(1)),
                         {row.integer(2)},
                         row.text(3),
                         answered ? std::optional(row.text(4)) : std::nullopt});
        });
    if (!read) return read;
    for (const Message& each_one : all) {
      if (auto done = message(each_one); !done) return done;
    }
    return {};
  }

  Status message(const Message& message) {
    const std::string what = "message " + std::to_string(message.id);
    if (message.outcome) {
      const auto outcome = renewed(*message.outcome, outcome_place(message.id), what);
      if (!outcome) return fail(outcome.error());
      return database_.run("UPDATE mail SET outcome = ?2 WHERE id = ?1", message.id,
                           StoredValue{*outcome, true});
    }
    const auto body = renewed(message.body, message_place(message.id, message.to, message.time), what);
    if (!body) return fail(body.error());
    return database_.run("UPDATE mail SET body = ?2 WHERE id = ?1", message.id, StoredValue{*body, true});
  }

  Database& database_;
  const Sealer* const from_;
  const Sealer& to_;
  std::map<std::int64_t, Chain> chains_;  // by the number of the session
};

void step(const OnSealStep& on_step, std::string_view name) {
  if (on_step) on_step(name);
}

/// Opens the journal as its only user. An opening for writing has checked it and put its log away before.
Result<Database> open_alone(const std::string& path) {
  {
    auto checked = Database::open(path, Database::Mode::kWrite);
    if (!checked) return checked;
    checked->keep_log_on_close(true);
    if (auto intact = check_acknowledged(*checked, acknowledged_heads(path)); !intact)
      return fail(std::move(intact.error()));
    checked->keep_log_on_close(false);
    if (auto latest = upgrade_journal_file(*checked); !latest) return fail(std::move(latest.error()));
  }
  return Database::open(path, Database::Mode::kWrite);
}

Status refuse_if_in_use(Database& database) {
  const auto owners = Owners::open(database.path());
  if (!owners) return fail(owners.error());
  const auto open = has_owner(database, *owners);
  if (!open) return fail(open.error());
  if (!*open) return {};
  return fail(journal_error(ErrorKind::kLeaseHeld, "journal " + database.path() +
                                                       " is open in another process; stop its runs first"));
}

/// Calls `change` in a transaction that no other process writes next to.
template <class Change>
Status change_alone(Database& database, const OnSealStep& on_step, Change change) {
  return in_write_transaction(database, [&] {
    auto changed = refuse_if_in_use(database);
    if (changed) changed = change();
    step(on_step, "commit");
    return changed;
  });
}

/// Removes what the file and its log still have of the values that were replaced, then says so in the row.
Status purge(Database& database, StoredSeal seal, const OnSealStep& on_step) {
  const auto emptied = [&]() -> Status {
    Query query(database, "PRAGMA wal_checkpoint(TRUNCATE)");
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (query.integer(0) == 0) return {};
    return fail(journal_error(ErrorKind::kIo,
                              "journal " + database.path() +
                                  " is sealed, but another process reads it, so its log still has what was "
                                  "there before; run praxis journal seal once it has ended",
                              true));
  };
  step(on_step, "purge");
  if (auto moved = emptied(); !moved) return moved;
  step(on_step, "rewrite");
  if (auto rewritten = database.run("VACUUM"); !rewritten) return rewritten;
  step(on_step, "empty the log");
  if (auto moved = emptied(); !moved) return moved;
  step(on_step, "note");
  seal.is_clean = true;
  if (auto noted = update_seal(database, seal); !noted) return noted;
  return emptied();
}

/// Seals all values with a new data key, and removes the old ones.
Status reseal(Database& database, const Sealer* from, const SealSecret& secret, UnixMillis now,
              const OnSealStep& on_step) {
  const SealKey data_key = SealKey::random();
  auto wrapped = wrap_key(data_key, secret);
  if (!wrapped) return fail(std::move(wrapped.error()));
  const StoredSeal seal{*std::move(wrapped), now, false};
  const Sealer to(data_key);
  if (auto set = database.run("PRAGMA secure_delete = ON"); !set) return set;
  auto changed = change_alone(database, on_step, [&]() -> Status {
    if (auto done = Resealing(database, from, to).run(on_step); !done) return done;
    step(on_step, "key");
    if (auto stored = from == nullptr ? insert_seal(database, seal) : update_seal(database, seal); !stored)
      return stored;
    // The heads name hashes of the old bytes. Without heads a journal is complete; with wrong ones it is not.
    step(on_step, "forget heads");
    return forget_heads(database.path());
  });
  if (!changed) return changed;
  step(on_step, "acknowledge");
  const auto head = select_journal_head(database);
  if (!head) return fail(head.error());
  if (auto noted = replace_heads(database.path(), *head); !noted) return noted;
  return purge(database, seal, on_step);
}

Error not_sealed_yet(const std::string& path) {
  return journal_error(ErrorKind::kKey, "journal " + path + " is not sealed; praxis journal seal seals it");
}

/// A sealed journal that nothing else uses.
struct Opened {
  Database database;
  StoredSeal seal;
  SealKey key;
};
Result<Opened> open_sealed(const std::string& path, const SealSecret& secret) {
  auto database = open_alone(path);
  if (!database) return fail(std::move(database.error()));
  auto seal = select_seal(*database);
  if (!seal) return fail(std::move(seal.error()));
  if (!*seal) return fail(not_sealed_yet(path));
  auto key = unwrap_journal_key(path, **seal, secret);
  if (!key) return fail(std::move(key.error()));
  return Opened{*std::move(database), **std::move(seal), *std::move(key)};
}

}  // namespace

Result<std::optional<StoredSeal>> seal_of_journal(const std::string& path) {
  if (auto ours = check_journal_file(path); !ours) return fail(std::move(ours.error()));
  return ReadAttempts(path).read([](Database& database) { return select_seal(database); });
}

Status seal_journal(const std::string& path, const SealSecret& secret, UnixMillis now,
                    const OnSealStep& on_step) {
  if (auto ours = check_journal_file(path); !ours) return ours;
  const auto present = seal_of_journal(path);
  if (!present) return fail(present.error());
  if (*present) {
    auto sealed = open_sealed(path, secret);
    if (!sealed) return fail(std::move(sealed.error()));
    return sealed->seal.is_clean ? Status{} : purge(sealed->database, sealed->seal, on_step);
  }
  auto database = open_alone(path);
  if (!database) return fail(std::move(database.error()));
  return reseal(*database, nullptr, secret, now, on_step);
}

Status rekey_journal(const std::string& path, const SealSecret& old_secret, const SealSecret& new_secret,
                     const OnSealStep& on_step) {
  if (auto ours = check_journal_file(path); !ours) return ours;
  auto sealed = open_sealed(path, old_secret);
  if (!sealed && sealed.error().kind() == ErrorKind::kKey) {
    // A call that a kill has cut off may have come as far as the new key.
    auto done = open_sealed(path, new_secret);
    if (done) return done->seal.is_clean ? Status{} : purge(done->database, done->seal, on_step);
  }
  if (!sealed) return fail(std::move(sealed.error()));
  auto wrapped = wrap_key(sealed->key, new_secret);
  if (!wrapped) return fail(std::move(wrapped.error()));
  StoredSeal seal{*std::move(wrapped), sealed->seal.since, false};
  auto changed = change_alone(sealed->database, on_step, [&] {
    step(on_step, "key");
    return update_seal(sealed->database, seal);
  });
  return changed ? purge(sealed->database, seal, on_step) : changed;
}

Status renew_journal_key(const std::string& path, const SealSecret& secret, UnixMillis now,
                         const OnSealStep& on_step) {
  if (auto ours = check_journal_file(path); !ours) return ours;
  auto sealed = open_sealed(path, secret);
  if (!sealed) return fail(std::move(sealed.error()));
  const Sealer from(sealed->key);
  return reseal(sealed->database, &from, secret, now, on_step);
}

}  // namespace praxis
