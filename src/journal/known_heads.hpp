// Where sessions stand in the file, as their last append from here left them: it spares the next append of
// the same writer the look. Only a guess: whoever uses one checks it within the transaction, as an append
// that was undone or a lease that another took leaves it wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "journal/chain.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// The row of a session, as far as an append concerns it.
struct StoredHead {
  std::int64_t session = 0;  ///< `id` of the row
  std::int64_t owner = 0;    ///< `lease_owner`; 0: released
  std::int64_t last = 0;     ///< `id` of its last entry; 0: there is none
  Head head;
};

/// For whoever commits just now.
class KnownHeads {
 public:
  /// Nothing when the last append that is known was not the one that `append` wants to follow.
  std::optional<StoredHead> before(const Append& append) const {
    const auto known = heads_.find(append.lease.session);
    if (known == heads_.end()) return std::nullopt;
    const Head& head = known->second.head;
    if (head.token != append.lease.token || head.seq != append.expected_seq) return std::nullopt;
    return known->second;
  }
  void note(const SessionId& session, const StoredHead& stored) {
    if (heads_.size() >= kMost) heads_.clear();
    heads_.insert_or_assign(session, stored);
  }
  void forget(const SessionId& session) { heads_.erase(session); }

 private:
  static constexpr std::size_t kMost = 10'000;  // some 2 MB
  std::unordered_map<SessionId, StoredHead> heads_;
};

}  // namespace praxis
