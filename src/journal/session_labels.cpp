#include "journal/session_labels.hpp"

#include <utility>

#include "journal/chain.hpp"
#include "journal/labels.hpp"
#include "journal/sealed_values.hpp"

namespace praxis {
namespace {

/// The session with this name, besides `session`; empty: no other. Sealed names differ each time they are
/// sealed, so the file cannot look one up, nor keep one from being there twice.
Result<std::string> other_with(Database& database, const std::string& name, const SessionId& session) {
  if (database.sealer() == nullptr) {
    Query query(database, "SELECT name FROM sessions WHERE label = ?1 AND label <> '' AND name <> ?2", name,
                session.str());
    const auto row = query.next();
    if (!row) return fail(row.error());
    return *row ? query.text(0) : std::string();
  }
  Query query(database, "SELECT name, label FROM sessions WHERE label <> '' AND name <> ?1", session.str());
  auto row = query.next();
  for (; row && *row; row = query.next()) {
    const auto label =
        opened(database.sealer(), query.bytes(1), row_place("label", SessionId(query.text(0))));
    if (label == name) return query.text(0);
  }
  if (!row) return fail(row.error());
  return std::string();
}

}  // namespace

Status label_session(Database& database, const SessionId& session, const LabelChange& change) {
  Labels labels;
  {
    Query query(database, "SELECT label, tags FROM sessions WHERE name = ?1", session.str());
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return fail(no_such_session(session));
    const auto open = [&](int column, std::string_view name) {
      return opened_column(database.sealer(), query.bytes(column), row_place(name, session));
    };
    auto label = open(0, "label");
    const auto tags = open(1, "tags");
    if (!label || !tags)
      return fail(journal_error(ErrorKind::kCorrupt, "the name of session " + session.str() +
                                                         " was damaged or altered outside Praxis"));
    labels = {*std::move(label), tags_of(*tags)};
  }
  auto after = changed(std::move(labels), change);
  if (!after) return fail(std::move(after.error()));
  if (!after->name.empty()) {
    const auto other = other_with(database, after->name, session);
    if (!other) return fail(other.error());
    if (!other->empty()) return fail(name_taken(after->name, SessionId(*other)));
  }
  const std::optional<std::string> tags = tags_text(after->tags), label = after->name;
  const SealedText stored_label(database.sealer(), label, [&] { return row_place("label", session); });
  const SealedText stored_tags(database.sealer(), tags, [&] { return row_place("tags", session); });
  return database.run("UPDATE sessions SET label = ?2, tags = ?3 WHERE name = ?1", session.str(),
                      stored_label.value(), stored_tags.value());
}

}  // namespace praxis
