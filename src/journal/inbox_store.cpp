#include "journal/inbox_store.hpp"

#include "journal/chain.hpp"
#include "journal/sealed_values.hpp"

namespace praxis {
namespace {

Result<bool> has_inbox(Database& database) {
  Query query(database, "PRAGMA user_version");
  if (auto row = query.next(); !row) return fail(std::move(row.error()));
  return query.integer(0) > 1;
}

Error damaged_message(InboxId message) {
  return journal_error(ErrorKind::kCorrupt,
                       "message " + std::to_string(message) + " was damaged or altered outside Praxis");
}

/// The number of the next message. Until the transaction ends, no other takes it.
Result<InboxId> next_message(Database& database) {
  Query query(database, "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'mail'");
  if (auto row = query.next(); !row) return fail(std::move(row.error()));
  return query.number(0);
}

template <class... Values>
Result<std::vector<InboxMessage>> select_page(Database& database, std::string_view sql,
                                              const Values&... values) {
  std::vector<InboxMessage> found;
  const auto there = has_inbox(database);
  if (!there) return fail(there.error());
  if (!*there) return found;
  Query query(database, sql, values..., std::uint64_t{kInboxPage});
  auto row = query.next();
  for (; row && *row; row = query.next()) {
    InboxMessage message{query.number(0), SessionId(query.text(1)), {query.integer(2)}, ""};
    auto body =
        opened(database.sealer(), query.bytes(3), message_place(message.id, message.session, message.time));
    if (!body) return fail(damaged_message(message.id));
    message.body = *std::move(body);
    found.push_back(std::move(message));
  }
  if (!row) return fail(std::move(row.error()));
  return found;
}

Result<std::size_t> count_waiting(Database& database, std::int64_t session) {
  Query query(database, "SELECT count(*) FROM mail WHERE answered IS NULL AND session = ?1", session);
  if (auto row = query.next(); !row) return fail(std::move(row.error()));
  return query.number(0);
}

Result<std::int64_t> session_number(Database& database, const SessionId& session) {
  Query query(database, "SELECT id FROM sessions WHERE name = ?1", session.str());
  auto row = query.next();
  if (!row) return fail(std::move(row.error()));
  if (!*row) return fail(no_such_session(session));
  return query.integer(0);
}

/// Whether the message is for `session` and has no answer.
Status check_waiting(Database& database, const SessionId& session, InboxId message) {
  Query query(database,
              "SELECT s.name, m.answered IS NOT NULL FROM mail m JOIN sessions s ON s.id = m.session "
              "WHERE m.id = ?1",
              message);
  auto row = query.next();
  if (!row) return fail(std::move(row.error()));
  if (*row && query.integer(1) != 0) return fail(already_answered(message));
  if (!*row || query.bytes(0) != session.str()) return fail(no_such_message(message));
  return {};
}

}  // namespace

Result<InboxId> insert_message(Database& database, const SessionId& to, std::string_view body,
                               UnixMillis now) {
  const auto session = session_number(database, to);
  if (!session) return fail(session.error());
  const auto waiting = count_waiting(database, *session);
  if (!waiting) return fail(waiting.error());
  if (auto admitted = admit_message(to, body, *waiting); !admitted) return fail(std::move(admitted.error()));
  const auto id = next_message(database);
  if (!id) return id;
  const SealedText stored(database.sealer(), body, message_place(*id, to, now));
  auto inserted = database.run("INSERT INTO mail (id, session, time, body) VALUES (?1, ?2, ?3, ?4)", *id,
                               *session, now.value, stored.value());
  if (!inserted) return fail(std::move(inserted.error()));
  return *id;
}

Status answer_message(Database& database, const SessionId& session, const InboxAnswer& answer) {
  if (auto admitted = admit_outcome(answer); !admitted) return admitted;
  if (auto waiting = check_waiting(database, session, answer.message); !waiting) return waiting;
  const SealedText outcome(database.sealer(), std::string_view(answer.outcome),
                           outcome_place(answer.message));
  auto answered = database.run(
      "UPDATE mail SET answered = (SELECT coalesce(max(answered), 0) + 1 FROM mail), outcome = ?2, body = '' "
      "WHERE id = ?1",
      answer.message, outcome.value());
  if (!answered) return answered;
  return database.run("DELETE FROM mail WHERE answered <= (SELECT max(answered) FROM mail) - ?1",
                      std::uint64_t{kInboxOutcomesKept});
}

// The `+` keeps SQLite from scanning all unanswered messages: it then finds those above `after` by their ids.
Result<std::vector<InboxMessage>> select_messages(Database& database, InboxId after) {
  return select_page(database,
                     "SELECT m.id, s.name, m.time, m.body FROM mail m JOIN sessions s ON s.id = m.session "
                     "WHERE m.id > ?1 AND +m.answered IS NULL ORDER BY m.id LIMIT ?2",
                     after);
}

Result<std::vector<InboxMessage>> select_messages_for(Database& database, const SessionId& session,
                                                      InboxId after) {
  return select_page(database,
                     "SELECT m.id, s.name, m.time, m.body FROM mail m JOIN sessions s ON s.id = m.session "
                     "WHERE s.name = ?1 AND m.answered IS NULL AND m.id > ?2 ORDER BY m.id LIMIT ?3",
                     session.str(), after);
}

Result<std::optional<std::string>> select_outcome(Database& database, InboxId message) {
  const auto there = has_inbox(database);
  if (!there) return fail(there.error());
  if (!*there) return fail(no_such_message(message));
  Query query(database, "SELECT answered IS NOT NULL, outcome FROM mail WHERE id = ?1", message);
  auto row = query.next();
  if (!row) return fail(std::move(row.error()));
  if (!*row) return fail(no_such_message(message));
  if (query.integer(0) == 0) return std::nullopt;
  auto outcome = opened(database.sealer(), query.bytes(1), outcome_place(message));
  if (!outcome) return fail(damaged_message(message));
  return outcome;
}

}  // namespace praxis
