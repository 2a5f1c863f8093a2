// The answers that models write for sessions of other processes, piece by piece. A piece may come twice, late
// or not at all: this says what of it is new.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "praxis/core/event.hpp"

namespace praxis::server {

/// A transient event of a session that another process runs.
struct RemotePiece {
  Event event;
  std::uint64_t at = 0;  ///< of a piece of an answer: how many bytes of the answer were before it
};

/// Follows a sequence that each session's log and each answer of it give. Not thread-safe.
class RemoteAnswers {
 public:
  /// What to do with a piece.
  enum class Taken : std::uint8_t {
    kNew,  ///< publish it; what was known of it is cut off
    kOld,  ///< known, or the record after it has been read
    kGap,  ///< pieces before it are missing: ask for the answer from its beginning
    kAsk,  ///< the record after it may have been read: note the last record of the session, and try again
  };
  Taken take(RemotePiece& piece);
  /// Whether a record after the event has been read.
  bool is_past(const Event& event) const;
  /// A record was read, or is known to exist.
  void note_record(const SessionId& session, std::uint64_t seq);
  /// The sessions that have an open answer here.
  std::vector<SessionId> open() const;
  void forget(const SessionId& session) { answers_.erase(session); }

 private:
  static constexpr std::size_t kMostHeads = 20'000;

  struct Answer {
    std::uint64_t seq = 0;
    std::uint32_t attempt = 0;
    std::uint64_t bytes = 0;
  };
  std::optional<std::uint64_t> head_of(const SessionId& session) const;

  std::map<SessionId, Answer> answers_;
  /// The last records of the sessions; when `heads_` is full, it becomes the older one.
  std::unordered_map<SessionId, std::uint64_t> heads_, older_heads_;
};

}  // namespace praxis::server
