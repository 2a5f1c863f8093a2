#include "journal/postgres_inbox.hpp"

#include "journal/chain.hpp"
#include "journal/postgres_store.hpp"

namespace praxis {
namespace {

std::vector<InboxMessage> messages_of(const PostgresRows& rows) {
  std::vector<InboxMessage> messages;
  for (int i = 0; i < rows.size(); ++i)
    messages.push_back(
        {rows.number(i, 0), SessionId(rows.text(i, 1)), {rows.integer(i, 2)}, rows.text(i, 3)});
  return messages;
}

}  // namespace

Result<InboxId> insert_message(PostgresConnection& connection, const SessionId& to, std::string_view body,
                               UnixMillis now) {
  connection.send(kLockMail);
  const auto counted = connection.run(
      "SELECT s.id, (SELECT count(*) FROM praxis_mail m WHERE m.session = s.id AND m.answered IS NULL) FROM "
      "praxis_sessions s WHERE s.name = $1",
      {to.str()});
  if (!counted) return fail(counted.error());
  if (counted->size() == 0) return fail(no_such_session(to));
  if (auto admitted = admit_message(to, body, counted->number(0, 1)); !admitted)
    return fail(std::move(admitted.error()));
  const auto posted =
      connection.run("INSERT INTO praxis_mail (session, time, body) VALUES ($1, $2, $3) RETURNING id",
                     {counted->integer(0, 0), now.value, body});
  if (!posted) return fail(posted.error());
  connection.send("SELECT pg_notify($1, '')", {kMailChannel});
  connection.prove_by([id = posted->integer(0, 0), text = std::string(body)](auto& other) {
    return other.holds("SELECT EXISTS (SELECT 1 FROM praxis_mail WHERE id = $1 AND body = $2)", {id, text});
  });
  return posted->number(0, 0);
}

Status answer_as_owner(PostgresConnection& connection, const Lease& lease, const InboxAnswer& answer,
                       std::int64_t owner) {
  const auto session = connection.run(
      "SELECT id, lease_owner, lease_token FROM praxis_sessions WHERE name = $1 FOR NO KEY UPDATE",
      {lease.session.str()});
  if (!session) return fail(session.error());
  if (session->size() == 0) return fail(no_such_session(lease.session));
  const Head head{0, {}, session->number(0, 2), session->integer(0, 1) == owner};
  if (auto admitted = admit(lease, head); !admitted) return admitted;
  if (auto admitted = admit_outcome(answer); !admitted) return admitted;
  const auto message = connection.run(
      "SELECT session, answered IS NOT NULL FROM praxis_mail WHERE id = $1 FOR UPDATE", {answer.message});
  if (!message) return fail(message.error());
  if (message->size() > 0 && message->boolean(0, 1)) return fail(already_answered(answer.message));
  if (message->size() == 0 || message->integer(0, 0) != session->integer(0, 0))
    return fail(no_such_message(answer.message));
  send_answer(connection, answer);
  send_forgetting(connection);
  return {};
}

void send_answer(PostgresConnection& connection, const InboxAnswer& answer) {
  connection.send(
      "UPDATE praxis_mail SET answered = nextval('praxis_answers'), outcome = $2, body = '' WHERE id = $1",
      {answer.message, answer.outcome});
  // The outcome may have been forgotten since.
  connection.prove_by([id = answer.message](auto& other) {
    return other.holds("SELECT NOT EXISTS (SELECT 1 FROM praxis_mail WHERE id = $1 AND answered IS NULL)",
                       {id});
  });
}

void send_forgetting(PostgresConnection& connection) {
  connection.send(
      "DELETE FROM praxis_mail WHERE answered <= (SELECT answered FROM praxis_mail WHERE answered IS NOT "
      "NULL "
      "ORDER BY answered DESC OFFSET $1 LIMIT 1)",
      {std::uint64_t{kInboxOutcomesKept}});
}

Result<std::vector<InboxMessage>> select_messages(PostgresConnection& connection, InboxId after) {
  return value_of(
      connection.run(
          "SELECT m.id, s.name, m.time, m.body FROM praxis_mail m JOIN praxis_sessions s ON s.id = m.session "
          "WHERE m.answered IS NULL AND m.id > $1 ORDER BY m.id LIMIT $2",
          {after, std::uint64_t{kInboxPage}}),
      messages_of);
}

Result<std::vector<InboxMessage>> select_messages_for(PostgresConnection& connection,
                                                      const SessionId& session, InboxId after) {
  return value_of(
      connection.run(
          "SELECT m.id, s.name, m.time, m.body FROM praxis_mail m JOIN praxis_sessions s ON s.id = m.session "
          "WHERE s.name = $1 AND m.answered IS NULL AND m.id > $2 ORDER BY m.id LIMIT $3",
          {session.str(), after, std::uint64_t{kInboxPage}}),
      messages_of);
}

Result<std::optional<std::string>> select_outcome(PostgresConnection& connection, InboxId message) {
  const auto found =
      connection.run("SELECT answered IS NOT NULL, outcome FROM praxis_mail WHERE id = $1", {message});
  if (!found) return fail(found.error());
  if (found->size() == 0) return fail(no_such_message(message));
  if (!found->boolean(0, 0)) return std::nullopt;
  return found->text(0, 1);
}

}  // namespace praxis
