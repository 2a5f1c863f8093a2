// The disk of a simulated process: what is appended is written in a later step, acknowledged in one later
// still, and sometimes refused. What outlives the process is the journal below.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "journal/testing/forwarding_journal.hpp"
#include "sim_schedule.hpp"

namespace praxis::faults::sim {

class SimJournal final : public testing::ForwardingJournal {
 public:
  SimJournal(std::shared_ptr<Journal> disk, Schedule& schedule)
      : ForwardingJournal(std::move(disk)), schedule_(schedule) {}

  /// From now on nothing is refused.
  void mend() { mended_ = true; }
  /// The process is gone: of what was not acknowledged some is on the disk and some is not, and what it owned
  /// is nobody's.
  void crash();
  /// What must never happen to a writer that nobody took a session from; empty when it did not.
  const std::string& complaint() const { return complaint_; }

  Result<Lease> create(const SessionId& session, UnixMillis now) override;
  Result<Lease> acquire(const SessionId& session, bool force) override;
  void release(const Lease& lease) override;
  void append(Append append, AppendDone done) override;
  Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from, std::size_t limit) override;

 private:
  /// An append or, without one, a lease that is given back.
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
  bool mended_ = false;
  std::map<SessionId, Queue> queues_;
  std::map<SessionId, Lease> leases_;
  std::set<std::pair<SessionId, std::uint64_t>> given_back_;  ///< leases by session and token
  std::string complaint_;
};

}  // namespace praxis::faults::sim
