// Pieces of answers on their way to other processes that watch them. A reader that is too slow loses pieces,
// and then gets the answer from its beginning.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/event_feed.hpp"

namespace praxis::server {

/// Numbers for `/metrics`. Thread-safe.
struct RelayCounts {
  std::atomic<std::uint64_t> sent = 0;      ///< messages with pieces to other servers
  std::atomic<std::uint64_t> received = 0;  ///< messages with pieces from them
  std::atomic<std::uint64_t> gaps = 0;      ///< answers that were asked for again, because pieces were lost
};

/// Thread-safe.
class RelayOutbox {
 public:
  /// What waits for one reader.
  struct Waiting {
    std::map<SessionId, std::vector<RemotePiece>> pieces = {};
    std::size_t bytes = 0;     ///< of their texts
    bool has_records = false;  ///< something was written to the journal
  };

  /// `on_first` is called, on any thread, when something waits after nothing did.
  explicit RelayOutbox(std::function<void()> on_first) : on_first_(std::move(on_first)) {}

  /// Joins the piece with the one before it if that is of the same text. False: as much waits as may.
  bool push(const std::string& reader, RemotePiece piece);
  void note_record(const std::string& reader);
  bool is_empty(const std::string& reader);
  bool is_empty();
  std::map<std::string, Waiting> take();

 private:
  static constexpr std::size_t kMostWaiting = 1024 * 1024;  // bytes

  const std::function<void()> on_first_;
  std::mutex mutex_;
  std::map<std::string, Waiting> waiting_;
};

/// Watches the sessions of this process for a reader in another one.
class RelaySink final : public FeedSink {
 public:
  RelaySink(std::shared_ptr<RelayOutbox> outbox, std::string reader)
      : outbox_(std::move(outbox)), reader_(std::move(reader)) {}

  bool on_frame(const Frame& frame) override;
  bool on_idle() override { return !is_lost_; }
  void on_end() override {}
  bool has_room() const override { return true; }
  /// Whether pieces had to be left out: it takes no more.
  bool is_lost() const { return is_lost_; }

 private:
  /// The answer that a session writes.
  struct Writing {
    std::uint64_t seq = 0;
    std::uint32_t attempt = 0;
    std::uint64_t bytes = 0;
  };

  const std::shared_ptr<RelayOutbox> outbox_;
  const std::string reader_;
  std::map<SessionId, Writing> writing_;  // used by the feed, which calls one at a time
  std::atomic<bool> is_lost_ = false;
};

/// Texts of at most `most` bytes for what waits: objects of JSON, `{"from", "pieces": [{"at"?, "event"}],
/// "records"?}`.
std::vector<std::string> relay_texts(const std::string& from, RelayOutbox::Waiting waiting, std::size_t most);
/// The pieces of such a text.
std::vector<RemotePiece> relayed_pieces(const Json& text);

}  // namespace praxis::server
