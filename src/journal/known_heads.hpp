// Caches each session's head after our last append, which saves the next append of the same writer a query.
// Entries are hints: re-check them inside the transaction, because a rolled-back append or a lease taken by
// another process invalidates them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "journal/chain.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// The columns of a session's row that an append needs.
struct StoredHead {
  std::int64_t session = 0;  ///< `id` of the row
  std::int64_t owner = 0;    ///< `lease_owner`; 0: released
  std::int64_t last = 0;     ///< `id` of its last entry; 0: no entries
  Head head;
};

/// Used by the committing thread only.
class KnownHeads {
 public:
  /// Returns the cached head if it is the one that `append` expects to follow.
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
