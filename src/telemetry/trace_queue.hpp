// The turns of a journal whose spans are still to be sent. The journal is the queue: a small file next to it
// has the position up to which everything was sent, so that a collector that is away costs a run nothing,
// and what a process could not send, the next one sends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/file_descriptor.hpp"
#include "praxis/journal/journal.hpp"
#include "telemetry/collector.hpp"

namespace praxis::telemetry {

/// How far a pass came.
struct QueuePass {
  bool busy = false;           ///< another process sends now
  std::uint64_t turns = 0;     ///< sent
  std::uint64_t refused = 0;   ///< turns that the collector refused; they are not sent again
  std::uint64_t dropped = 0;   ///< records that were skipped, because the queue was too long
  std::optional<Error> error;  ///< the collector was away: the rest stays in the queue
};

/// Not thread-safe; several processes may have queues of one journal.
class TraceQueue {
 public:
  /// `redactions`: as in `SpanQuestion`. `file`: where the position is kept. Without a file, the queue begins
  /// with what is appended from now on. Error `kInput`: the file cannot be written; `kJournal`.
  static Result<TraceQueue> open(std::shared_ptr<Journal> journal, const std::string& file,
                                 app::Redactions redactions = {});

  /// Sends the turns of roots that have ended, with all below them, in the order in which they ended. A turn
  /// may be sent twice if the process dies between sending and remembering it. Error `kJournal`.
  Result<QueuePass> send(Collector& collector, const std::stop_token& stop);
  /// When the collector was away last; 0: not since the last success.
  UnixMillis away_since() const;
  /// More records than this wait for the collector: the oldest are skipped.
  void set_bound(std::uint64_t records) { bound_ = records; }

 private:
  struct Position {
    std::uint64_t sent = 0;
    std::int64_t away_since = 0;
  };
  TraceQueue(std::shared_ptr<Journal> journal, FileDescriptor file, app::Redactions redactions)
      : journal_(std::move(journal)), file_(std::move(file)), redactions_(std::move(redactions)) {}

  std::optional<Position> read_position() const;
  Status write_position(const Position& position) const;
  Result<bool> send_changes(Collector& collector, Position& position, QueuePass& pass,
                            const std::stop_token& stop);
  Status send_turn(Collector& collector, const Change& turn, const std::stop_token& stop);

  std::shared_ptr<Journal> journal_;
  FileDescriptor file_;
  app::Redactions redactions_;
  std::uint64_t bound_ = 1'000'000;
};

}  // namespace praxis::telemetry
