#include "journal/session_removal.hpp"

#include <set>
#include <vector>

#include "journal/chain.hpp"

namespace praxis {
namespace {

/// What removing a session needs of its row.
struct Doomed {
  std::int64_t id = 0;
  std::string name;
  std::int64_t owner = 0;
  std::int64_t last = 0;  ///< id of its last entry
  std::uint64_t seq = 0;  ///< of that entry
};

Result<std::vector<Doomed>> select_doomed(Database& database, std::string_view sql, const std::string& name) {
  Query query(database, sql, name);
  std::vector<Doomed> found;
  auto row = query.next();
  for (; row && *row; row = query.next())
    found.push_back({query.integer(0), query.text(1), query.integer(2), query.integer(3), query.number(4)});
  if (!row) return fail(std::move(row.error()));
  return found;
}

/// The session and all below it, parents first.
Result<std::vector<Doomed>> tree_below(Database& database, const SessionId& root) {
  auto tree = select_doomed(
      database, "SELECT id, name, lease_owner, head_id, head_seq FROM sessions WHERE name = ?1", root.str());
  if (!tree) return tree;
  if (tree->empty()) return fail(no_such_session(root));
  std::set<std::int64_t> seen{tree->front().id};
  for (std::size_t next = 0; next < tree->size(); ++next) {
    auto children = select_doomed(database,
                                  "SELECT id, name, lease_owner, head_id, head_seq FROM sessions WHERE "
                                  "parent = ?1 AND parent <> '' ORDER BY id",
                                  std::string((*tree)[next].name));
    if (!children) return children;
    for (Doomed& child : *children) {
      if (seen.insert(child.id).second) tree->push_back(std::move(child));
    }
  }
  return tree;
}

Result<std::int64_t> last_entry(Database& database) {
  Query query(database, "SELECT coalesce(max(id), 0) FROM chain");
  if (auto row = query.next(); !row) return fail(std::move(row.error()));
  return query.integer(0);
}

/// Removes the entry, or only its body if it is the last of the journal.
Status remove_entry(Database& database, std::int64_t id, std::int64_t last_of_all) {
  if (id != last_of_all) return database.run("DELETE FROM chain WHERE id = ?1", id);
  return database.run("UPDATE chain SET session = 0, before = 0, kind = 'removed', body = '' WHERE id = ?1",
                      id);
}

/// Removes the entries of a session, from the last one back; by a scan of the whole table if a link is
/// broken.
Status remove_entries(Database& database, const Doomed& session, std::int64_t last_of_all) {
  std::int64_t id = session.last;
  std::uint64_t left = session.seq;
  for (; left > 0; --left) {
    std::int64_t before = 0;
    {
      Query query(database, "SELECT before FROM chain WHERE id = ?1 AND session = ?2", id, session.id);
      const auto row = query.next();
      if (!row && row.error().kind() != ErrorKind::kCorrupt) return fail(row.error());
      if (!row.value_or(false)) break;
      before = query.integer(0);
    }
    if (auto removed = remove_entry(database, id, last_of_all); !removed) return removed;
    id = before;
  }
  if (left == 0) return {};
  if (auto kept = database.run(
          "UPDATE chain SET session = 0, before = 0, kind = 'removed', body = '' WHERE id = ?1 AND session = "
          "?2",
          last_of_all, session.id);
      !kept)
    return kept;
  return database.run("DELETE FROM chain WHERE session = ?1", session.id);
}

Status remove_session(Database& database, const Doomed& session, std::int64_t last_of_all) {
  if (auto removed = remove_entries(database, session, last_of_all); !removed) return removed;
  for (const std::string_view sql :
       {std::string_view("DELETE FROM mail WHERE session = ?1 AND answered IS NULL"),
        std::string_view("DELETE FROM sessions WHERE id = ?1")}) {
    if (auto removed = database.run(sql, session.id); !removed) return removed;
  }
  return database.run(
      "INSERT INTO removed (name, head_seq) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET head_seq = "
      "max(head_seq, excluded.head_seq)",
      session.name, session.seq);
}

}  // namespace

Result<std::size_t> remove_tree(Database& database, const SessionId& root, const IsAlive& held) {
  const auto tree = tree_below(database, root);
  if (!tree) return fail(tree.error());
  for (const Doomed& session : *tree) {
    if (session.owner == 0 || !held(session.owner)) continue;
    Query query(database, "SELECT pid FROM owners WHERE id = ?1", session.owner);
    const bool known = query.next().value_or(false);
    return fail(lease_held(SessionId(session.name), known ? query.integer(0) : 0));
  }
  const auto last = last_entry(database);
  if (!last) return fail(last.error());
  for (const Doomed& session : *tree) {
    if (auto removed = remove_session(database, session, *last); !removed) return fail(removed.error());
  }
  return tree->size();
}

}  // namespace praxis
