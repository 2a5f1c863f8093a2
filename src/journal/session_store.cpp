#include "journal/session_store.hpp"

#include <unistd.h>

#include "journal/chain.hpp"
#include "journal/inbox_store.hpp"
#include "journal/labels.hpp"
#include "journal/sealed_values.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kNobody = 0;  // `lease_owner` of a released lease

Result<StoredHead> select_head(Database& database, const SessionId& session, std::int64_t owner) {
  Query query(
      database,
      "SELECT id, lease_owner, head_id, head_seq, head_hash, lease_token FROM sessions WHERE name = ?1",
      session.str());
  auto row = query.next();
  if (!row) return fail(std::move(row.error()));
  if (!*row) return fail(no_such_session(session));
  StoredHead stored{query.integer(0),
                    query.integer(1),
                    query.integer(2),
                    {query.number(3), query.digest(4), query.number(5), false}};
  stored.head.held = stored.owner == owner;
  return stored;
}

/// Errors `lease_lost` and `not_found`.
Status check_lease(Database& database, const Lease& lease, std::int64_t owner) {
  const auto stored = select_head(database, lease.session, owner);
  return stored ? admit(lease, stored->head) : fail(stored.error());
}

std::int64_t pid_of(Database& database, std::int64_t owner) {
  Query query(database, "SELECT pid FROM owners WHERE id = ?1", owner);
  return query.next().value_or(false) ? query.integer(0) : 0;
}

/// Makes all statements between construction and destruction read one state of the journal.
class Snapshot {
 public:
  explicit Snapshot(Database& database) : database_(database), begun_(database.run("BEGIN")) {}
  ~Snapshot() {
    if (begun_) std::ignore = database_.run("COMMIT");
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  const Status& begun() const { return begun_; }

 private:
  Database& database_;
  Status begun_;
};

/// Finds the ids of a session's entries from `first` on by a full scan, because no index exists. Used when
/// its links are broken, to find out which entries are missing.
Result<std::vector<std::int64_t>> scan_for_entries(Database& database, const StoredHead& stored,
                                                   std::uint64_t first) {
  std::vector<std::int64_t> ids;
  Query query(database, "SELECT id FROM chain WHERE session = ?1 AND seq >= ?2", stored.session, first);
  auto row = query.next();
  for (; row && *row; row = query.next()) ids.push_back(query.integer(0));
  if (!row && row.error().kind() != ErrorKind::kCorrupt) return fail(std::move(row.error()));
  return ids;
}

/// Finds entries by id. The next entry of a session is mostly one of the next rows: a step to it costs a
/// fifth of a search.
class Walk {
 public:
  /// `sql` gives the rows from `id = ?1` on, with the id in column 0; it must outlive this.
  Walk(Database& database, const char* sql) : database_(database), sql_(sql) {}
  /// Moves to the row of an id; false if it does not exist.
  Result<bool> find(std::int64_t id) {
    for (int i = 0; query_ && i < kNear; ++i) {
      const auto row = query_->next();
      if (!row || !*row) break;  // damage on the way to an entry says nothing about it
      if (query_->integer(0) == id) return true;
    }
    query_.emplace(database_, sql_, id);
    auto row = query_->next();
    return row && *row ? Result<bool>(query_->integer(0) == id) : row;
  }
  /// The row that was found.
  const Query& row() const { return *query_; }

 private:
  static constexpr int kNear = 4;  // steps cost less than a search
  Database& database_;
  const char* sql_;
  std::optional<Query> query_;
};
constexpr const char* kLinksBackwards =
    "SELECT id, before, session, seq FROM chain WHERE id <= ?1 ORDER BY id DESC";
constexpr const char* kEntriesOnwards =
    "SELECT id, time, kind, body, hash, seq FROM chain WHERE id >= ?1 ORDER BY id";

/// Finds the ids of a session's entries from `first` on, in order, by following the links from its head.
Result<std::vector<std::int64_t>> follow_links(Database& database, const StoredHead& stored,
                                               std::uint64_t first) {
  std::vector<std::int64_t> ids;
  std::int64_t id = stored.last;
  Walk links(database, kLinksBackwards);
  for (std::uint64_t seq = stored.head.seq; seq >= first; --seq) {
    auto found = links.find(id);
    if (!found && found.error().kind() != ErrorKind::kCorrupt) return fail(std::move(found.error()));
    if (!found.value_or(false) || links.row().integer(2) != stored.session || links.row().number(3) != seq)
      return scan_for_entries(database, stored, first);
    ids.push_back(id);
    id = links.row().integer(1);
  }
  std::ranges::reverse(ids);
  return ids;
}

/// Reads entry `seq`, which must have this id. Error `corrupt` if it does not exist.
Result<Entry> read_entry(Walk& entries, std::int64_t id, std::uint64_t seq, const SessionId& session) {
  auto found = entries.find(id);
  if (!found && found.error().kind() != ErrorKind::kCorrupt) return fail(std::move(found.error()));
  const auto& row = entries.row();
  if (!found.value_or(false) || row.number(5) != seq) return fail(untrusted_from(session, seq));
  return Entry{seq, row.text(2), {row.integer(1)}, row.text(3), row.digest(4)};
}

/// Opens the stored body of an entry.
Status open_entry(const Database& database, const SessionId& session, Entry& entry) {
  if (database.sealer() == nullptr) return {};
  auto body = opened(database.sealer(), entry.body, entry_place(session, entry.seq, entry.time, entry.kind));
  if (!body) return fail(untrusted_from(session, entry.seq));
  entry.body = *std::move(body);
  return {};
}

// The end of a session is intact if its row names the last entry and that entry's hash.
const std::string kSelectRow =
    "SELECT name, created, updated, head_seq, agent, model, "
    "CASE WHEN head_seq = 0 OR EXISTS (SELECT 1 FROM chain c WHERE c.id = head_id AND session = s.id "
    "AND seq = head_seq AND hash = head_hash) THEN status ELSE 'corrupt' END, title, parent, lease_owner, "
    "label, tags FROM sessions s ";
const std::string kSelectOne = kSelectRow + "WHERE name = ?1";
const std::string kSelectChildren = kSelectRow + "WHERE parent = ?1 AND parent <> '' ORDER BY id";
const std::string kSelectNewest = kSelectRow + "ORDER BY id DESC LIMIT ?1";

Error damaged_row(const SessionId& session) {
  return journal_error(ErrorKind::kCorrupt, "the title, the agent or the name of session " + session.str() +
                                                " was damaged or altered outside Praxis");
}

SessionRow stored_row_of(const Query& query, const IsAlive& held) {
  return {.id = SessionId(query.text(0)),
          .created = {query.integer(1)},
          .updated = {query.integer(2)},
          .entries = query.number(3),
          .agent = query.text(4),
          .model = query.text(5),
          .status = query.text(6),
          .title = query.text(7),
          .parent = SessionId(query.text(8)),
          .name = query.text(10),
          .tags = {},
          .held = query.integer(9) != kNobody && held(query.integer(9))};
}

/// Its tags are in the last column.
Result<SessionRow> row_of(const Database& database, const Query& query, const IsAlive& held) {
  SessionRow row = stored_row_of(query, held);
  std::string tags = query.text(11);
  const std::pair<std::string_view, std::string*> columns[] = {{"agent", &row.agent},
                                                               {"model", &row.model},
                                                               {"title", &row.title},
                                                               {"label", &row.name},
                                                               {"tags", &tags}};
  if (database.sealer() != nullptr) {
    for (const auto& [column, text] : columns) {
      auto open = opened_column(database.sealer(), *text, row_place(column, row.id));
      if (!open) return fail(damaged_row(row.id));
      *text = *std::move(open);
    }
  }
  row.tags = tags_of(tags);
  return row;
}

template <class... Values>
Result<std::vector<SessionRow>> select_rows(Database& database, const IsAlive& held, std::string_view sql,
                                            const Values&... values) {
  Query query(database, sql, values...);
  std::vector<SessionRow> rows;
  auto row = query.next();
  for (; row && *row; row = query.next()) {
    auto opened_row = row_of(database, query, held);
    if (!opened_row) return fail(std::move(opened_row.error()));
    rows.push_back(*std::move(opened_row));
  }
  if (!row) return fail(std::move(row.error()));
  return rows;
}

/// Converts "at most `limit`, 0 means all" into SQLite's limit.
std::int64_t sql_limit(std::size_t limit) { return limit == 0 ? -1 : static_cast<std::int64_t>(limit); }

Status insert_blob(Database& database, const Blob& blob) {
  const Digest name = stored_name(database.sealer(), blob.digest);
  const SealedText bytes(database.sealer(), std::string_view(blob.bytes), blob_place(name));
  return database.run(
      "INSERT INTO blobs (digest, bytes) VALUES (?1, CAST(?2 AS BLOB)) ON CONFLICT DO NOTHING", name,
      bytes.value());
}

/// Inserts entries, after each of which the session's head is the corresponding one of `heads`; returns the
/// last id.
Result<std::int64_t> insert_entries(Database& database, const StoredHead& stored,
                                    const std::vector<NewEntry>& entries, const std::vector<Head>& heads) {
  std::int64_t last = stored.last;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [kind, time, body] = entries[i];
    const StoredValue stored_body{body, database.sealer() != nullptr};
    auto inserted = database.run(
        "INSERT INTO chain (session, seq, before, time, hash, kind, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
        "?7)",
        stored.session, heads[i].seq, last, time.value, heads[i].hash, kind, stored_body);
    if (!inserted) return fail(std::move(inserted.error()));
    last = sqlite3_last_insert_rowid(database.handle());
  }
  return last;
}

/// Moves the session's row from one head to another, whose entries are inserted next: SQLite assigns their
/// ids upwards from the largest. False if the row does not, or no longer, have the head `from`.
Result<bool> move_head(Database& database, const StoredHead& from, const Head& to, const Append& append) {
  const auto updated = append.entries.empty() ? std::int64_t{0} : append.entries.back().time.value;
  const auto& row = append.row;
  const SessionId& session = append.lease.session;
  const SealedText agent(database.sealer(), row.agent, [&] { return row_place("agent", session); });
  const SealedText model(database.sealer(), row.model, [&] { return row_place("model", session); });
  const SealedText title(database.sealer(), row.title, [&] { return row_place("title", session); });
  auto set = database.run(
      "UPDATE sessions SET head_seq = ?5, head_hash = ?6, updated = iif(?7 = 0, updated, ?7), "
      "head_id = iif(?12 = 0, head_id, (SELECT coalesce(max(id), 0) FROM chain) + ?12), "
      "agent = coalesce(?8, agent), model = coalesce(?9, model), status = coalesce(?10, status), "
      "title = coalesce(?11, title) WHERE id = ?1 AND lease_owner = ?2 AND lease_token = ?3 AND head_seq = "
      "?4",
      from.session, from.owner, from.head.token, from.head.seq, to.seq, to.hash, updated, agent.value(),
      model.value(), row.status, title.value(), std::uint64_t{append.entries.size()});
  if (!set) return fail(std::move(set.error()));
  return sqlite3_changes(database.handle()) == 1;
}

/// Separate from the other columns, so that not every append writes the index of parents again.
Status set_parent(Database& database, std::int64_t session, const SessionId& parent) {
  return database.run("UPDATE sessions SET parent = ?2 WHERE id = ?1", session, parent.str());
}

/// Returns the heads after each entry in turn.
std::vector<Head> heads_after(Head head, const std::vector<NewEntry>& entries) {
  std::vector<Head> heads;
  heads.reserve(entries.size());
  for (const auto& [kind, time, body] : entries) {
    head.hash = chain_next(head.hash, ++head.seq, time, kind, body);
    heads.push_back(head);
  }
  return heads;
}

/// Reads the session's head and checks that its log ends there intact.
Result<StoredHead> head_before(Database& database, const Append& append, std::int64_t owner,
                               const KnownHeads& heads) {
  if (auto known = heads.before(append)) return *known;
  const SessionId& session = append.lease.session;
  auto stored = select_head(database, session, owner);
  if (!stored || stored->head.seq == 0) return stored;
  Walk entries(database, kEntriesOnwards);
  const auto entry = read_entry(entries, stored->last, stored->head.seq, session);
  if (!entry) return fail(entry.error());
  if (entry->hash != stored->head.hash) return fail(untrusted_from(session, entry->seq));
  return stored;
}

/// Inserts what an append adds besides entries.
Status insert_others(Database& database, std::int64_t session, const Append& append) {
  for (const auto& blob : append.blobs) {
    if (auto inserted = insert_blob(database, blob); !inserted) return inserted;
  }
  for (const auto& answer : append.answers) {
    if (auto answered = answer_message(database, append.lease.session, answer); !answered) return answered;
  }
  return append.row.parent ? set_parent(database, session, *append.row.parent) : Status{};
}

}  // namespace

Result<bool> has_owner(Database& database, const Owners& owners) {
  Query query(database, "SELECT id FROM owners");
  auto row = query.next();
  for (; row && *row; row = query.next()) {
    if (owners.alive(query.integer(0))) return true;
  }
  return row;
}

Result<std::int64_t> claim_owner(Database& database, Owners& owners) {
  const auto claim = [&]() -> Result<std::int64_t> {
    std::vector<std::int64_t> gone;
    {
      Query query(database, "SELECT id FROM owners");
      auto row = query.next();
      for (; row && *row; row = query.next()) {
        if (!owners.alive(query.integer(0))) gone.push_back(query.integer(0));
      }
      if (!row) return fail(std::move(row.error()));
    }
    for (const auto owner : gone) {
      if (auto removed = database.run("DELETE FROM owners WHERE id = ?1", owner); !removed)
        return fail(removed.error());
    }
    auto added = database.run("INSERT INTO owners (pid) VALUES (?1)", std::int64_t{getpid()});
    if (!added) return fail(std::move(added.error()));
    const std::int64_t owner = sqlite3_last_insert_rowid(database.handle());
    if (auto claimed = owners.claim(owner); !claimed) return fail(std::move(claimed.error()));
    return owner;
  };
  const auto turn = database.begin();
  if (!turn) return fail(turn.error());
  auto owner = claim();
  auto ended = database.run(owner ? "COMMIT" : "ROLLBACK");
  if (owner && !ended) return fail(std::move(ended.error()));
  return owner;
}

Result<bool> has_session(Database& database, const SessionId& session) {
  return Query(database, "SELECT 1 FROM sessions WHERE name = ?1", session.str()).next();
}

Status insert_session(Database& database, const Append& first, UnixMillis now, std::int64_t owner) {
  const Lease& lease = first.lease;
  // The process that took the session above may have created this one, too; then the lost lease is the
  // reason.
  if (first.on_behalf_of) {
    if (auto good = check_lease(database, *first.on_behalf_of, owner); !good) return good;
  }
  auto found = has_session(database, lease.session);
  if (!found) return fail(std::move(found.error()));
  if (*found) return fail(session_exists(lease.session));
  return database.run(
      "INSERT INTO sessions (name, created, updated, head_seq, head_hash, lease_token, lease_owner) "
      "VALUES (?1, ?2, ?2, 0, ?3, ?4, ?5)",
      lease.session.str(), now.value, chain_start(lease.session), lease.token, owner);
}

Result<std::uint64_t> take_lease(Database& database, const SessionId& session, std::int64_t owner,
                                 const IsAlive& held) {
  auto stored = select_head(database, session, owner);
  if (!stored) return fail(std::move(stored.error()));
  if (stored->owner != kNobody && held(stored->owner)) {
    return fail(lease_held(session, pid_of(database, stored->owner)));
  }
  const auto token = stored->head.token + 1;
  auto taken = database.run("UPDATE sessions SET lease_token = ?2, lease_owner = ?3 WHERE id = ?1",
                            stored->session, token, owner);
  if (!taken) return fail(std::move(taken.error()));
  return token;
}

Status give_lease(Database& database, const Lease& lease, std::int64_t owner) {
  return database.run(
      "UPDATE sessions SET lease_owner = ?4 WHERE name = ?1 AND lease_token = ?2 AND lease_owner = ?3",
      lease.session.str(), lease.token, owner, kNobody);
}

Status insert_append(Database& database, const Append& append, std::int64_t owner, KnownHeads& heads) {
  const SessionId& session = append.lease.session;
  if (append.on_behalf_of) {
    if (auto good = check_lease(database, *append.on_behalf_of, owner); !good) return good;
  }
  auto stored = head_before(database, append, owner, heads);
  if (!stored) return fail(std::move(stored.error()));
  if (auto admitted = admit(append, stored->head); !admitted) return admitted;
  const Sealer* sealer = database.sealer();
  const auto sealed = sealer == nullptr ? std::vector<NewEntry>{}
                                        : sealed_entries(*sealer, session, stored->head.seq, append.entries);
  const std::vector<NewEntry>& entries = sealer == nullptr ? append.entries : sealed;
  const std::vector<Head> after = heads_after(stored->head, entries);
  const Head& last = after.empty() ? stored->head : after.back();
  const auto moved = move_head(database, *stored, last, append);
  if (!moved) return fail(moved.error());
  if (!*moved) {  // the cached head was outdated: read it
    heads.forget(session);
    return insert_append(database, append, owner, heads);
  }
  const auto inserted = insert_entries(database, *stored, entries, after);
  if (!inserted) return fail(inserted.error());
  if (auto added = insert_others(database, stored->session, append); !added) return added;
  heads.note(session, {stored->session, stored->owner, *inserted, last});
  return {};
}

Status answer_as_owner(Database& database, const Lease& lease, const InboxAnswer& answer,
                       std::int64_t owner) {
  if (auto good = check_lease(database, lease, owner); !good) return good;
  return answer_message(database, lease.session, answer);
}

Result<std::vector<Entry>> select_entries(Database& database, const SessionId& session, std::uint64_t from,
                                          std::size_t limit) {
  const Snapshot snapshot(database);
  if (!snapshot.begun()) return fail(snapshot.begun().error());
  const auto stored = select_head(database, session, kNobody);
  if (!stored) return fail(stored.error());
  const auto& head = stored->head;
  auto seq = std::max(from, std::uint64_t{1});  // the next entry expected
  if (seq > head.seq + 1) return std::vector<Entry>{};
  const bool chained = seq > 1;  // to an entry before the first requested one
  const auto ids = follow_links(database, *stored, chained ? seq - 1 : seq);
  if (!ids) return fail(ids.error());
  auto id = ids->begin();
  Walk stored_entries(database, kEntriesOnwards);
  Digest previous = chain_start(session);
  if (chained) {
    const auto before = read_entry(stored_entries, id == ids->end() ? 0 : *id++, seq - 1, session);
    if (!before) return fail(before.error());
    previous = before->hash;
  }

  std::vector<Entry> entries;
  for (; id != ids->end() && (limit == 0 || entries.size() < limit); ++id, ++seq) {
    auto entry = read_entry(stored_entries, *id, seq, session);
    if (!entry) return fail(std::move(entry.error()));
    previous = chain_next(previous, seq, entry->time, entry->kind, entry->body);
    if (entry->hash != previous) return fail(untrusted_from(session, seq));
    if (auto open = open_entry(database, session, *entry); !open) return fail(std::move(open.error()));
    entries.push_back(*std::move(entry));
  }

  const bool all = limit == 0 || entries.size() < limit;
  if (all && seq <= head.seq) return fail(untrusted_from(session, seq));  // entries are missing at the end
  if (seq > head.seq + 1) return fail(untrusted_from(session, head.seq + 1));  // more than were appended
  if (seq == head.seq + 1 && previous != head.hash)
    return fail(untrusted_from(session, std::max(head.seq, std::uint64_t{1})));
  return entries;
}

Result<std::string> select_blob(Database& database, const Digest& digest) {
  const Digest name = stored_name(database.sealer(), digest);
  Query query(database, "SELECT bytes FROM blobs WHERE digest = ?1", name);
  auto row = query.next();
  if (!row) return fail(std::move(row.error()));
  if (!*row) return fail(no_such_blob(digest));
  auto bytes = opened(database.sealer(), query.bytes(0), blob_place(name));
  if (!bytes || digest_of(*bytes) != digest) {
    return fail(journal_error(ErrorKind::kCorrupt,
                              "blob " + digest.hex() + " was damaged or altered outside Praxis"));
  }
  return *std::move(bytes);
}

Result<std::vector<SessionRow>> select_sessions(Database& database, std::size_t limit, const IsAlive& held) {
  return select_rows(database, held, kSelectNewest, sql_limit(limit));
}

Result<std::vector<Change>> select_changes(Database& database, std::uint64_t after, std::size_t limit) {
  Query query(database,
              "SELECT c.id, s.name, c.seq FROM chain c JOIN sessions s ON s.id = c.session WHERE c.id > ?1 "
              "ORDER BY c.id LIMIT ?2",
              static_cast<std::int64_t>(after),
              limit == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(limit));
  std::vector<Change> changes;
  while (true) {
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!*row) return changes;
    changes.push_back({query.number(0), SessionId(query.text(1)), query.number(2)});
  }
}

Result<std::uint64_t> select_last_position(Database& database) {
  Query query(database, "SELECT coalesce(max(id), 0) FROM chain");
  const auto row = query.next();
  if (!row) return fail(row.error());
  return query.number(0);
}

Result<std::vector<SessionRow>> select_children(Database& database, const SessionId& parent,
                                                const IsAlive& held) {
  return select_rows(database, held, kSelectChildren, parent.str());
}

Result<SessionRow> select_session(Database& database, const SessionId& session, const IsAlive& held) {
  Query query(database, kSelectOne, session.str());
  auto row = query.next();
  if (!row) return fail(std::move(row.error()));
  if (!*row) return fail(no_such_session(session));
  return row_of(database, query, held);
}

}  // namespace praxis
