// Tells the readers of a session on one server what its model is writing on another, as long as they share a
// PostgreSQL journal (docs/scale-out.md). A thread with a connection of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.hpp"
#include "journal/postgres_live.hpp"
#include "server/event_feed.hpp"
#include "server/relay_outbox.hpp"
#include "server/runs.hpp"

namespace praxis::server {

/// Each second, and when it changes, a server says which sessions it has readers of and does not run. The one
/// that runs them sends what it has of their answers, and then each piece.
class PieceRelay {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// `name` is that of this process, which no other has. Call before the feed starts.
  PieceRelay(std::string address, std::string name, std::shared_ptr<EventFeed> feed,
             std::shared_ptr<Runs> runs, std::shared_ptr<RelayCounts> counts, Warn warn);
  ~PieceRelay();
  PieceRelay(const PieceRelay&) = delete;
  PieceRelay& operator=(const PieceRelay&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  using Messages = std::vector<LiveMessage>;

  /// Wakes the thread; shared with the feed, which may outlive it.
  struct Bell;
  /// An interest of this server.
  struct Wanted {
    std::uint64_t epoch = 0;  ///< a new one asks for the open answers from their beginning
    Clock::time_point asked;
  };
  /// An interest of another server in sessions of this one.
  struct Relayed {
    std::uint64_t epoch = 0;
    std::uint64_t round = 0;  ///< the last beacon that named it
    std::shared_ptr<RelaySink> sink = nullptr;
    Task leave = nullptr;
  };
  struct Reader {
    std::map<SessionId, Relayed> relayed;
    Clock::time_point seen;
  };

  void work();
  bool connect();
  void step();
  std::chrono::milliseconds pause() const;
  void take(const std::string& text);
  void take_beacon(const std::string& from, const Json& text);
  void take_pieces(const Json& text);
  void ask_again(const SessionId& session);
  void begin(Relayed& relayed, const std::string& reader, const SessionId& session);
  void end(Relayed& relayed);
  void end_all();
  void tidy();
  void refresh_wanted();
  void add_beacons(Messages& messages);
  void add_pieces(Messages& messages);

  const std::string address_, name_;
  const std::shared_ptr<EventFeed> feed_;
  const std::shared_ptr<Runs> runs_;
  const std::shared_ptr<RelayCounts> counts_;
  const Warn warn_;
  const std::shared_ptr<Bell> bell_;
  const std::shared_ptr<RelayOutbox> outbox_;
  // Used by the thread only.
  std::optional<PostgresLive> live_;
  std::map<SessionId, Wanted> wanted_;
  std::map<std::string, Reader> readers_;
  std::uint64_t epochs_ = 0, rounds_ = 0;
  Clock::time_point beacon_at_, pieces_at_;
  bool is_changed_ = true, has_warned_ = false;
  std::thread thread_;  // begins last
};

}  // namespace praxis::server
