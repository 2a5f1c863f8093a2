#include "journal/postgres_store.hpp"

#include <algorithm>

#include "journal/chain.hpp"
#include "journal/labels.hpp"

namespace praxis {
namespace {

/// The columns of an owner and whether it has shown life lately, for `is_alive_at`. While the server is down
/// no process can show life.
#define PRAXIS_OWNER_COLUMNS                                                                        \
  "s.lease_owner, coalesce(o.host, ''), coalesce(o.pid, 0), coalesce(o.started, ''), "              \
  "coalesce(o.name, ''), coalesce(greatest(o.seen, pg_postmaster_start_time()) > clock_timestamp()" \
  " - o.patience * interval '1 ms', false)"

struct HeldBy {
  bool is_alive = false;
  PostgresOwner owner;
};

HeldBy holder_at(const PostgresRows& rows, int row, int column, const PostgresSelf& self) {
  const std::int64_t number = rows.integer(row, column);
  HeldBy by{false,
            {rows.text(row, column + 1), rows.integer(row, column + 2), rows.text(row, column + 3),
             rows.text(row, column + 4)}};
  if (number == 0) return by;
  by.is_alive =
      number == self.number || (rows.boolean(row, column + 5) && !by.owner.is_known_dead(self.process));
  return by;
}

Error held_by(const SessionId& session, const HeldBy& by, const PostgresSelf& self) {
  if (by.owner.host == self.process.host) return lease_held(session, by.owner.pid);
  return journal_error(ErrorKind::kLeaseHeld, "session " + session.str() + " is in use by process " +
                                                  std::to_string(by.owner.pid) + " on " + by.owner.name +
                                                  "; stop it or force")
      .set("pid", by.owner.pid)
      .set("host", by.owner.name);
}

// The end of a session is intact if its row has the hash of the last entry.
#define PRAXIS_SELECT_ROW                                                                           \
  "SELECT s.name, s.created, s.updated, s.head_seq, s.agent, s.model, CASE WHEN s.head_seq = 0 OR " \
  "EXISTS (SELECT 1 FROM praxis_entries e WHERE e.session = s.id AND e.seq = s.head_seq AND "       \
  "e.hash = s.head_hash) THEN s.status ELSE 'corrupt' END, s.title, s.parent, s.label, "            \
  "s.tags, " PRAXIS_OWNER_COLUMNS                                                                   \
  " FROM praxis_sessions s LEFT JOIN praxis_owners o ON o.id = s.lease_owner "

std::vector<SessionRow> rows_of(const PostgresRows& found, const PostgresSelf& self) {
  std::vector<SessionRow> rows;
  for (int i = 0; i < found.size(); ++i) {
    rows.push_back({.id = SessionId(found.text(i, 0)),
                    .created = {found.integer(i, 1)},
                    .updated = {found.integer(i, 2)},
                    .entries = found.number(i, 3),
                    .agent = found.text(i, 4),
                    .model = found.text(i, 5),
                    .status = found.text(i, 6),
                    .title = found.text(i, 7),
                    .parent = SessionId(found.text(i, 8)),
                    .name = found.text(i, 9),
                    .tags = tags_of(found.bytes(i, 10)),
                    .held = holder_at(found, i, 11, self).is_alive});
  }
  return rows;
}

/// Null: no limit.
PostgresValue limit_of(std::size_t limit) {
  return limit == 0 ? PostgresValue() : PostgresValue(std::uint64_t{limit});
}

/// Checks the entries of a session, which the rows hold from `first` on, against each other and the head.
Result<std::vector<Entry>> checked_entries(const PostgresRows& rows, const SessionId& session,
                                           std::uint64_t from, std::size_t limit, const Head& head) {
  const bool chained = from > 1;  // the first row is the entry before the first requested one
  std::uint64_t seq = chained ? from - 1 : from;
  Digest previous = chain_start(session);
  std::vector<Entry> entries;
  int row = 0;
  for (; row < rows.size(); ++row, ++seq) {
    if (rows.number(row, 0) != seq || seq > head.seq) return fail(untrusted_from(session, seq));
    Entry entry{seq, rows.text(row, 2), {rows.integer(row, 1)}, rows.text(row, 3), rows.digest(row, 4)};
    if (!chained || row > 0) {
      previous = chain_next(previous, seq, entry.time, entry.kind, entry.body);
      if (entry.hash != previous) return fail(untrusted_from(session, seq));
      entries.push_back(std::move(entry));
    } else {
      previous = entry.hash;
    }
  }
  const bool all = limit == 0 || entries.size() < limit;
  if (all && seq <= head.seq) return fail(untrusted_from(session, seq));  // entries are missing at the end
  if (seq == head.seq + 1 && previous != head.hash)
    return fail(untrusted_from(session, std::max(head.seq, std::uint64_t{1})));
  return entries;
}

}  // namespace

Result<AcquiredLease> acquire_session(PostgresConnection& connection, const SessionId& session, bool force,
                                      const PostgresSelf& self) {
  const auto found = connection.run(
      "SELECT s.id, s.lease_token, " PRAXIS_OWNER_COLUMNS
      " FROM praxis_sessions s LEFT JOIN praxis_owners o ON o.id = s.lease_owner WHERE s.name = $1 FOR NO "
      "KEY UPDATE OF s",
      {session.str()});
  if (!found) return fail(found.error());
  if (found->size() == 0) return fail(no_such_session(session));
  const HeldBy by = holder_at(*found, 0, 2, self);
  if (by.is_alive && !force) return fail(held_by(session, by, self));
  const std::uint64_t token = found->number(0, 1) + 1;
  const bool is_takeover = found->integer(0, 2) != 0 && found->integer(0, 2) != self.number;
  connection.send("UPDATE praxis_sessions SET lease_token = $2, lease_owner = $3 WHERE id = $1",
                  {found->integer(0, 0), token, self.number});
  connection.prove_by([id = found->integer(0, 0), token, owner = self.number](auto& other) {
    return other.holds(
        "SELECT EXISTS (SELECT 1 FROM praxis_sessions WHERE id = $1 AND lease_token = $2 AND lease_owner = "
        "$3)",
        {id, token, owner});
  });
  return AcquiredLease{{session, token}, is_takeover};
}

Status label_session(PostgresConnection& connection, const SessionId& session, const LabelChange& change) {
  const auto row = connection.run("SELECT label, tags FROM praxis_sessions WHERE name = $1 FOR NO KEY UPDATE",
                                  {session.str()});
  if (!row) return fail(row.error());
  if (row->size() == 0) return fail(no_such_session(session));
  auto after = changed({row->text(0, 0), tags_of(row->bytes(0, 1))}, change);
  if (!after) return fail(std::move(after.error()));
  if (!after->name.empty()) {
    const auto other = connection.run("SELECT name FROM praxis_sessions WHERE label = $1 AND name <> $2",
                                      {after->name, session.str()});
    if (!other) return fail(other.error());
    if (other->size() > 0) return fail(name_taken(after->name, SessionId(other->text(0, 0))));
  }
  connection.send("UPDATE praxis_sessions SET label = $2, tags = $3 WHERE name = $1",
                  {session.str(), after->name, tags_text(after->tags)});
  return connection.finish();
}

Result<std::size_t> remove_tree(PostgresConnection& connection, const SessionId& root,
                                const PostgresSelf& self) {
  const auto tree = connection.run(
      "WITH RECURSIVE tree AS (SELECT id, name FROM praxis_sessions WHERE name = $1 UNION SELECT c.id, "
      "c.name FROM praxis_sessions c JOIN tree t ON c.parent = t.name AND c.parent <> '') "
      "SELECT s.id, s.name, " PRAXIS_OWNER_COLUMNS
      " FROM praxis_sessions s JOIN tree t ON t.id = s.id LEFT JOIN praxis_owners o ON o.id = s.lease_owner "
      "ORDER BY s.name FOR UPDATE OF s",
      {root.str()});
  if (!tree) return fail(tree.error());
  if (tree->size() == 0) return fail(no_such_session(root));
  std::vector<std::string> ids;
  for (int i = 0; i < tree->size(); ++i) {
    const HeldBy by = holder_at(*tree, i, 2, self);
    if (by.is_alive) return fail(held_by(SessionId(tree->text(i, 1)), by, self));
    ids.push_back(std::to_string(tree->integer(i, 0)));
  }
  const PostgresValue all = PostgresValue::array(ids);
  connection.send("DELETE FROM praxis_entries WHERE session = ANY($1::bigint[])", {all});
  connection.send("DELETE FROM praxis_mail WHERE answered IS NULL AND session = ANY($1::bigint[])", {all});
  connection.send("DELETE FROM praxis_sessions WHERE id = ANY($1::bigint[])", {all});
  connection.prove_by([all](auto& other) {
    return other.holds("SELECT NOT EXISTS (SELECT 1 FROM praxis_sessions WHERE id = ANY($1::bigint[]))",
                       {all});
  });
  if (auto done = connection.finish(); !done) return fail(std::move(done.error()));
  return ids.size();
}

Result<bool> has_session(PostgresConnection& connection, const SessionId& session) {
  return value_of(connection.run("SELECT 1 FROM praxis_sessions WHERE name = $1", {session.str()}),
                  [](const PostgresRows& rows) { return rows.size() > 0; });
}

Result<std::vector<Entry>> select_entries(PostgresConnection& connection, const SessionId& session,
                                          std::uint64_t from, std::size_t limit) {
  from = std::max(from, std::uint64_t{1});
  const std::uint64_t first = from > 1 ? from - 1 : from;
  connection.send("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
  const auto head_at =
      connection.send("SELECT head_seq, head_hash FROM praxis_sessions WHERE name = $1", {session.str()});
  const auto entries_at = connection.send(
      "SELECT e.seq, e.time, e.kind, e.body, e.hash FROM praxis_entries e JOIN praxis_sessions s ON s.id = "
      "e.session WHERE s.name = $1 AND e.seq >= $2 ORDER BY e.seq LIMIT $3",
      {session.str(), first, limit_of(limit == 0 || from == 1 ? limit : limit + 1)});
  connection.send("COMMIT");
  auto finished = connection.finish();
  connection.roll_back();
  if (!finished) return fail(std::move(finished.error()));
  const PostgresRows& head = connection.answers()[head_at];
  if (head.size() == 0) return fail(no_such_session(session));
  const Head end{head.number(0, 0), head.digest(0, 1), 0, false};
  if (from > end.seq + 1) return std::vector<Entry>{};
  return checked_entries(connection.answers()[entries_at], session, from, limit, end);
}

Result<std::string> select_blob(PostgresConnection& connection, const Digest& digest) {
  const auto found = connection.run("SELECT bytes FROM praxis_blobs WHERE digest = $1", {digest});
  if (!found) return fail(found.error());
  if (found->size() == 0) return fail(no_such_blob(digest));
  std::string bytes = found->text(0, 0);
  if (digest_of(bytes) == digest) return bytes;
  return fail(
      journal_error(ErrorKind::kCorrupt, "blob " + digest.hex() + " was damaged or altered outside Praxis"));
}

Result<std::vector<Change>> select_changes(PostgresConnection& connection, std::uint64_t after,
                                           std::size_t limit) {
  const auto found = connection.run(
      "SELECT e.position, s.name, e.seq FROM praxis_entries e JOIN praxis_sessions s ON s.id = e.session "
      "WHERE e.position > $1 ORDER BY e.position LIMIT $2",
      {after, limit_of(limit)});
  if (!found) return fail(found.error());
  std::vector<Change> changes;
  for (int i = 0; i < found->size(); ++i)
    changes.push_back({found->number(i, 0), SessionId(found->text(i, 1)), found->number(i, 2)});
  return changes;
}

Result<std::uint64_t> select_last_position(PostgresConnection& connection) {
  return value_of(connection.run("SELECT coalesce(max(position), 0) FROM praxis_entries"),
                  [](const PostgresRows& rows) { return rows.number(0, 0); });
}

Result<std::vector<SessionRow>> select_sessions(PostgresConnection& connection, std::size_t limit,
                                                const PostgresSelf& self) {
  return value_of(connection.run(PRAXIS_SELECT_ROW "ORDER BY s.id DESC LIMIT $1", {limit_of(limit)}),
                  [&](const PostgresRows& rows) { return rows_of(rows, self); });
}

Result<SessionRow> select_session(PostgresConnection& connection, const SessionId& session,
                                  const PostgresSelf& self) {
  const auto found = connection.run(PRAXIS_SELECT_ROW "WHERE s.name = $1", {session.str()});
  if (!found) return fail(found.error());
  if (found->size() == 0) return fail(no_such_session(session));
  return rows_of(*found, self).front();
}

Result<std::vector<SessionRow>> select_children(PostgresConnection& connection, const SessionId& parent,
                                                const PostgresSelf& self) {
  return value_of(connection.run(PRAXIS_SELECT_ROW "WHERE s.parent = $1 AND s.parent <> '' ORDER BY s.id",
                                 {parent.str()}),
                  [&](const PostgresRows& rows) { return rows_of(rows, self); });
}

}  // namespace praxis
