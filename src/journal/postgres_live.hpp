// What the processes of a PostgreSQL journal say to each other without writing it down: notifications of the
// server. Each role that may connect to a database can listen to them and send some, so they are sealed with
// a key that only those have who may read the tables.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/postgres_connection.hpp"
#include "seal/sealer.hpp"

namespace praxis {

/// A text to the process of this name; without a name, to all that listen, the sender too.
struct LiveMessage {
  std::string to;
  std::string text;
};

/// A connection of its own, used by one thread at a time.
class PostgresLive {
 public:
  /// The longest text: sealed and encoded it has less than the 8,000 bytes that the server accepts.
  static constexpr std::size_t kMostBytes = 5'900;

  /// Connects and listens as `name`, which has letters and digits only; makes the key if the journal has none
  /// yet. Errors of the connection; `io` if the role may not make the table of the key.
  static Result<PostgresLive> open(const std::string& address, std::string_view name);

  /// The texts that have arrived, in the order of each sender; waits for one until `wake` (a file descriptor)
  /// is readable, at most `limit`. Leaves out what has another key. Error `io`: the connection is lost, and
  /// with it what was under way.
  Result<std::vector<std::string>> receive(int wake, std::chrono::milliseconds limit);
  /// Sends messages, each of at most `kMostBytes`. One to a process that is gone is lost. Errors of the
  /// connection.
  Status send(const std::vector<LiveMessage>& messages);

 private:
  PostgresLive(PostgresConnection connection, std::string journal, const SealKey& key)
      : connection_(std::move(connection)), journal_(std::move(journal)), sealer_(key) {}

  PostgresConnection connection_;
  std::string journal_;  ///< begins the names of the channels, which a database has only once
  Sealer sealer_;
};

}  // namespace praxis
