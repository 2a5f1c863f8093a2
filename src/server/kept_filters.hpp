// The content filters of sessions, so that the list of a large agent tree does not fold a log for each agent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "praxis/journal/journal.hpp"
#include "redact/redaction.hpp"

namespace praxis::server {

/// What the filters at `shown` of each session were after its last record. Bounded; thread-safe.
class KeptFilters {
 public:
  /// Nothing if they are not known, or the session has other records now.
  std::optional<redact::Redaction> find(const SessionRow& row) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(row.id);
    if (found == kept_.end() || found->second.created != row.created || found->second.records != row.entries)
      return std::nullopt;
    return found->second.filters;
  }
  void keep(const SessionRow& row, redact::Redaction filters) {
    const std::lock_guard lock(mutex_);
    if (kept_.size() >= kMost) kept_.clear();
    kept_.insert_or_assign(row.id, Kept{row.created, row.entries, std::move(filters)});
  }

 private:
  static constexpr std::size_t kMost = 10'000;
  struct Kept {
    UnixMillis created;  ///< of the session: another one may get its id once it was removed
    std::uint64_t records = 0;
    redact::Redaction filters;
  };
  std::mutex mutex_;  // guards the next member
  std::unordered_map<SessionId, Kept> kept_;
};

}  // namespace praxis::server
