// The log of one session as its only writer sees it: what is durable, what is being appended, and what waits
// for the next append. A value: it encodes records but writes nothing itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "driver/input.hpp"
#include "praxis/core/state.hpp"

namespace praxis::driver {

/// A record that is applied to the state but not durable yet, and what is to be done once it is.
struct PendingRecord {
  Record record;
  Readers readers;                      ///< of the turn at that time
  std::vector<Event> events;            ///< to publish
  std::unique_ptr<AgentResult> result;  ///< of the turn that this record settles
  CallId handed_back;                   ///< a call within another that this record settles
};

class Log {
 public:
  /// A log whose first `durable` records are written.
  Log(Lease lease, std::uint64_t durable)
      : lease_(std::move(lease)), durable_(durable), opened_at_(durable) {}

  const Lease& lease() const { return lease_; }
  std::uint64_t durable() const { return durable_; }
  /// Nothing was written since the log was opened.
  bool untouched() const { return durable_ == opened_at_; }
  bool appending() const { return appending_; }
  /// Nothing waits for the next append.
  bool is_empty() const { return pending_.empty() && answers_.empty(); }
  /// Whether this step was parked but the record of it waits for the next append.
  bool holds(const ParkId& step) const;

  void add(PendingRecord&& pending);
  void add(InboxAnswer answer) { answers_.push_back(std::move(answer)); }
  /// `waiter` is to be answered when everything added so far is durable.
  void wait(Token waiter) { waiters_.push_back(waiter); }
  std::vector<Token> take_waiters() { return std::exchange(waiters_, {}); }

  /// Everything that waits, as one append that brings the log to `state`. No append may be under way.
  Append begin_append(const State& state, SessionStatus status);
  /// What the append under way carried.
  struct Carried {
    std::vector<PendingRecord> records;
    std::vector<Token> waiters;
  };
  /// The append under way has ended; after an error the log is of no use.
  Carried end_append(const Result<std::uint64_t>& last);
  /// Drops what waits for the next append and gives it back.
  Carried abandon();

 private:
  Lease lease_;
  std::uint64_t durable_;
  std::uint64_t opened_at_;
  std::vector<PendingRecord> pending_;
  std::vector<InboxAnswer> answers_;  ///< to the messages that `pending_` carries out
  std::vector<Token> waiters_;
  bool appending_ = false;
  Carried carried_;  ///< by the append under way
};

}  // namespace praxis::driver
