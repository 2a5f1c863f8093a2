// The log of one session as seen by its only writer: the durable part, the append in progress, and the
// records that wait for the next append. A value: it encodes records but writes nothing itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "driver/input.hpp"
#include "praxis/core/state.hpp"

namespace praxis::driver {

/// A record that is applied to the state but not durable yet, and the actions to take once it is.
struct PendingRecord {
  PendingRecord(UnixMillis time, RecordBody&& body, Readers of)
      : record{time, std::move(body)}, readers(std::move(of)) {}

  Record record;
  Readers readers;                      ///< of the turn when the record was added
  std::vector<Event> events;            ///< to publish
  std::unique_ptr<AgentResult> result;  ///< of the turn that this record settles
  CallId handed_back;                   ///< a call within a call that this record settles
};

class Log {
 public:
  /// A log whose first `durable` records are already written.
  Log(Lease lease, std::uint64_t durable)
      : lease_(std::move(lease)), durable_(durable), opened_at_(durable) {}

  const Lease& lease() const { return lease_; }
  std::uint64_t durable() const { return durable_; }
  /// True when nothing was written since the log was opened.
  bool untouched() const { return durable_ == opened_at_; }
  bool appending() const { return appending_; }
  /// True when nothing waits for the next append.
  bool is_empty() const { return pending_.empty() && answers_.empty(); }
  /// The first record of a new session, if only that waits and no caller waits for it; else null. It can
  /// share the append of the first input, so that a crash leaves no session without it.
  const Record* lone_birth() const;
  /// True when the record that parks this step still waits for the next append.
  bool holds(const ParkId& step) const;

  /// The reference is valid until the next call.
  PendingRecord& add(UnixMillis time, RecordBody&& body, const Readers& readers);
  /// Removes the record that was added last.
  void drop_last() { pending_.pop_back(); }
  void add(InboxAnswer answer) { answers_.push_back(std::move(answer)); }
  /// Has `waiter` answered when everything added so far is durable.
  void wait(Token waiter) { waiters_.push_back(waiter); }
  std::vector<Token> take_waiters() { return std::exchange(waiters_, {}); }

  /// Returns everything that waits as one append, which brings the log to `state`. No append may be in
  /// progress.
  Append begin_append(const State& state, SessionStatus status);
  /// The contents of the append in progress.
  struct Carried {
    std::vector<PendingRecord> records;
    std::vector<Token> waiters;
  };
  /// The append in progress has ended. After an error the log is no longer usable.
  Carried end_append(const Result<std::uint64_t>& last);
  /// Removes and returns everything that waits for the next append.
  Carried abandon();

 private:
  Lease lease_;
  std::uint64_t durable_;
  std::uint64_t opened_at_;
  std::vector<PendingRecord> pending_;
  std::vector<InboxAnswer> answers_;  ///< to the messages that the records in `pending_` carry out
  std::vector<Token> waiters_;
  bool appending_ = false;
  Carried carried_;  ///< contents of the append in progress
};

}  // namespace praxis::driver
