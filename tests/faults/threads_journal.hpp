// The disk of a simulated process: an append is written in a later step, acknowledged in a still later one,
// and sometimes refused. Only the journal below outlives the process.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "journal/testing/forwarding_journal.hpp"
#include "threads_schedule.hpp"

namespace praxis::faults::threads {

class SimJournal final : public testing::ForwardingJournal {
 public:
  SimJournal(std::shared_ptr<Journal> disk, Schedule& schedule)
      : ForwardingJournal(std::move(disk)), schedule_(schedule) {}

  /// From now on nothing is refused.
  void become_reliable() { reliable_ = true; }
  /// Simulates the end of the process: of the unacknowledged appends some are on the disk and some are not,
  /// and its leases are free.
  void crash();
  /// A violation seen by a writer whose session was not taken over; empty without a violation.
  const std::string& complaint() const { return complaint_; }

  Result<Lease> create(const SessionId& session, UnixMillis now) override;
  Result<Lease> acquire(const SessionId& session, bool force) override;
  void release(const Lease& lease) override;
  void append(Append append, AppendDone done) override;
  Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from, std::size_t limit) override;

 private:
  /// An append or, without one, the release of a lease.
  struct Operation {
    std::optional<Append> append;
    AppendDone done;
    Lease lease;
  };
  using Queue = std::deque<Operation>;

  void next(const SessionId& session);
  void carry_out(Operation operation);
  Result<std::uint64_t> write(Append append);

  Schedule& schedule_;
  bool reliable_ = false;
  std::map<SessionId, Queue> queues_;
  std::map<SessionId, Lease> leases_;
  std::set<std::pair<SessionId, std::uint64_t>> given_back_;  ///< leases by session and token
  std::string complaint_;
};

}  // namespace praxis::faults::threads
