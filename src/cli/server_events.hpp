// The events of a run at a server, over as many connections as it takes: comes back with the id of the last
// event when the connection is lost or the server was restarted.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/server_client.hpp"
#include "praxis/json/json.hpp"
#include "praxis/net/sse.hpp"

namespace praxis::cli {

/// One thread.
class ServerEvents {
 public:
  /// The events of a run and its sub-agents after the event with the id `after`; empty: all. `client` must
  /// outlive it.
  ServerEvents(const ServerClient& client, const std::string& run, std::string after);
  ~ServerEvents();
  ServerEvents(const ServerEvents&) = delete;
  ServerEvents& operator=(const ServerEvents&) = delete;

  /// The next event; nothing if none comes within `time`. Errors: the server refuses, or could not be reached
  /// for `kServerPatience`; `kCancelled` once a stop was requested.
  Result<std::optional<Json>> next(std::chrono::milliseconds time);
  /// Whether the events that follow come from another connection than those before; asked once for each.
  bool reconnected() { return std::exchange(reconnected_, false); }
  /// Whether there is a connection to the server now.
  bool is_connected() const { return is_heard_; }

 private:
  class Connection;
  using Clock = std::chrono::steady_clock;
  struct Sent {
    std::string id;
    Json event;
  };

  void connect();
  Status read(Clock::time_point until);
  Status take(std::string_view bytes);
  Status lose(const Error& error);

  const ServerClient& client_;
  const std::string path_;
  std::string last_;  ///< id of the last event that `next` has returned
  std::shared_ptr<Connection> connection_;
  std::unique_ptr<SseParser> parser_;
  std::deque<Sent> sent_;
  std::string refusal_;  ///< the body of an answer that is no stream
  bool ends_ = false;    ///< the server asked to come back
  bool is_heard_ = false;
  bool had_connection_ = false, reconnected_ = false;
  Clock::time_point heard_ = Clock::now();  ///< when the server last sent something
};

}  // namespace praxis::cli
