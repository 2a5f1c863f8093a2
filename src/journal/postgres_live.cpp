#include "journal/postgres_live.hpp"

#include <tuple>
#include <utility>

#include "journal/chain.hpp"
#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

const SealPlace& live_place() {
  static const SealPlace place("praxis_live");
  return place;
}

std::string channel_of(const std::string& journal, std::string_view process) {
  return journal + std::string(process.empty() ? "all" : process);
}

/// The key of this journal. Its table is no part of the format: an older program works without it.
Result<SealKey> live_key(PostgresConnection& connection) {
  // A role that may not make tables can use the one that is there.
  const auto is_missing = connection.holds("SELECT to_regclass('praxis_live') IS NULL", {});
  if (!is_missing) return fail(is_missing.error());
  auto made = *is_missing
                  ? connection.execute("CREATE TABLE praxis_live (id bigint PRIMARY KEY, key bytea NOT NULL)")
                  : Status();
  if (!made) return fail(std::move(made.error()));
  connection.send("INSERT INTO praxis_live VALUES (1, $1) ON CONFLICT DO NOTHING",
                  {SealKey::random().reveal()});
  const auto found = connection.run("SELECT key FROM praxis_live WHERE id = 1");
  if (!found) return fail(found.error());
  if (found->size() == 0 || found->bytes(0, 0).size() != SealKey::kBytes)
    return fail(journal_error(ErrorKind::kCorrupt, "the table praxis_live holds no key; drop it"));
  return SealKey(SecretBytes(found->text(0, 0)));
}

}  // namespace

Result<PostgresLive> PostgresLive::open(const std::string& address, std::string_view name) {
  auto connection = PostgresConnection::open(address, false);
  if (!connection) return fail(std::move(connection.error()));
  // Nothing that is said here need survive the server. One process at a time makes the table.
  connection->send("SELECT set_config('synchronous_commit', 'off', false)");
  connection->send("SELECT pg_advisory_lock(1347572802)");
  if (auto alone = connection->finish(); !alone) return fail(std::move(alone.error()));
  const auto key = live_key(*connection);
  std::ignore = connection->run("SELECT pg_advisory_unlock(1347572802)");
  if (!key) return fail(key.error());
  const auto table = connection->run("SELECT 'praxis_entries'::regclass::oid::bigint");
  if (!table) return fail(table.error());
  PostgresLive live(std::move(*connection), "praxis_live_" + std::to_string(table->integer(0, 0)) + "_",
                    *key);
  for (const std::string_view process : {std::string_view(), name}) {
    const std::string channel = channel_of(live.journal_, process);
    if (auto listens = live.connection_.execute("LISTEN \"" + channel + '"'); !listens)
      return fail(std::move(listens.error()));
  }
  return live;
}

Result<std::vector<std::string>> PostgresLive::receive(int wake, std::chrono::milliseconds limit) {
  const auto notified = connection_.await_notifications(wake, limit);
  if (!notified) return fail(notified.error());
  std::vector<std::string> texts;
  for (const std::string& payload : *notified) {
    const auto sealed = base64_decode(payload);
    auto text = sealed ? sealer_.open(*sealed, live_place()) : std::nullopt;
    if (text) texts.push_back(*std::move(text));
  }
  return texts;
}

Status PostgresLive::send(const std::vector<LiveMessage>& messages) {
  for (const LiveMessage& message : messages) {
    connection_.send("SELECT pg_notify($1, $2)", {channel_of(journal_, message.to),
                                                  base64_encode(sealer_.seal(message.text, live_place()))});
  }
  return connection_.finish();
}

}  // namespace praxis
