// Shows the other processes that this one lives, and is notified when a message is posted. A thread with a
// connection of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "journal/postgres_connection.hpp"
#include "journal/postgres_store.hpp"
#include "journal/postgres_writer.hpp"
#include "praxis/journal/inbox.hpp"

namespace praxis {

class PostgresWatch {
 public:
  /// Shows life five times in `patience`, after which others take a silent process for dead.
  PostgresWatch(PostgresRoute route, PostgresSelf self, std::chrono::milliseconds patience);
  /// Releases all leases of this process, if the server can be reached.
  ~PostgresWatch();
  PostgresWatch(const PostgresWatch&) = delete;
  PostgresWatch& operator=(const PostgresWatch&) = delete;

  /// Whether no message above `after` can have arrived since `note_empty`: no notification came, and the
  /// last look was less than a second ago.
  bool is_empty_above(InboxId after);
  /// Begins a look at the inboxes; pass the result to `note_empty`.
  std::uint64_t begin_look();
  /// There was no message above `after` in the look that began with `look`.
  void note_empty(InboxId after, std::uint64_t look);
  /// A message was posted.
  void stir();

 private:
  struct Empty {
    InboxId after = 0;
    std::chrono::steady_clock::time_point seen;
  };

  void work();
  bool connect(std::optional<PostgresConnection>& connection);
  void set_listening(bool listening);

  const PostgresRoute route_;
  const PostgresSelf self_;
  const std::chrono::milliseconds patience_;
  const int wake_;  // an eventfd that ends the thread
  std::mutex mutex_;
  std::uint64_t notifications_ = 0;
  bool listening_ = false;
  std::optional<Empty> empty_;
  std::thread thread_;  // begins last
};

}  // namespace praxis
