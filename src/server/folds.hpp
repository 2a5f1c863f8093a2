// Keeps states of sessions, so that a long log is not folded from its beginning for each question about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "praxis/core/state.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::server {

/// States after some of the records of each session, within bounds: what was used least recently goes first.
/// Thread-safe; never holds the lock of all sessions while it reads the journal.
class Folds {
 public:
  using StatePtr = std::shared_ptr<const State>;
  /// While a log is folded, the state after each multiple of so many records is worth keeping.
  static constexpr std::uint64_t kStride = 8192;

  explicit Folds(std::shared_ptr<Journal> journal, std::uint64_t stride = kStride)
      : journal_(std::move(journal)), stride_(stride) {}
  std::uint64_t stride() const { return stride_; }

  /// The kept state that has most of the first `seq` records of the session, and no later one; null without
  /// one.
  StatePtr at_most(const SessionId& session, std::uint64_t seq);
  /// Keeps a state; no-op for the states of short logs, unless `always`.
  void keep(StatePtr state, bool always = false);
  /// The state after the last record; of a long log, one shortly before it is kept too, for what is asked
  /// about its end. Several callers at once fold a log once. Errors of the journal; `kJournal`: the log
  /// breaks its own rules.
  Result<StatePtr> last(const SessionId& session);

 private:
  static constexpr std::size_t kMostSessions = 64;
  static constexpr std::size_t kMostOfOne = 16;
  struct Kept {
    UnixMillis created;  ///< of the session: another one may get its id once it was removed
    std::map<std::uint64_t, StatePtr> states = {};
    StatePtr near_end = nullptr;
    std::uint64_t used = 0;
  };
  StatePtr find(const SessionRow& row, std::uint64_t seq);
  Result<StatePtr> fold_on(const SessionRow& row, const StatePtr& kept);
  void keep_near_end(const SessionRow& row, StatePtr state);
  std::shared_ptr<std::mutex> fold_of(const SessionId& session);
  static void thin_out(std::map<std::uint64_t, StatePtr>& states);

  const std::shared_ptr<Journal> journal_;
  const std::uint64_t stride_;
  std::mutex mutex_;  // guards the next members
  std::unordered_map<SessionId, Kept> sessions_;
  std::unordered_map<SessionId, std::weak_ptr<std::mutex>> folding_;
  std::uint64_t uses_ = 0;
};

}  // namespace praxis::server
