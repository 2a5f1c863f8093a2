#include "journal/session_labels.hpp"

#include <utility>

#include "journal/chain.hpp"
#include "journal/labels.hpp"

namespace praxis {

Status label_session(Database& database, const SessionId& session, const LabelChange& change) {
  Labels labels;
  {
    Query query(database, "SELECT label, tags FROM sessions WHERE name = ?1", session.str());
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return fail(no_such_session(session));
    labels = {query.text(0), tags_of(query.bytes(1))};
  }
  auto after = changed(std::move(labels), change);
  if (!after) return fail(std::move(after.error()));
  if (!after->name.empty()) {
    Query query(database, "SELECT name FROM sessions WHERE label = ?1 AND label <> '' AND name <> ?2",
                after->name, session.str());
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (*row) return fail(name_taken(after->name, SessionId(query.text(0))));
  }
  const std::string tags = tags_text(after->tags);
  return database.run("UPDATE sessions SET label = ?2, tags = ?3 WHERE name = ?1", session.str(), after->name,
                      tags);
}

}  // namespace praxis
