// Which sessions name which blobs, found in their logs as it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "praxis/base/digest.hpp"
#include "praxis/base/ids.hpp"
#include "praxis/base/result.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// Thread-safe. Remembers what it has read, within bounds, so that a log is read once and then only what was
/// added to it.
class BlobReferences {
 public:
  explicit BlobReferences(std::shared_ptr<Journal> journal) : journal_(std::move(journal)) {}

  /// Whether an entry of the session names the blob. Error `kJournal`.
  Result<bool> names(const SessionId& session, const Digest& digest);

 private:
  static constexpr std::size_t kMostKept = 1'000'000;  // digests
  struct Known {
    std::uint64_t seq = 0;  ///< of the last entry that was read
    std::set<Digest> digests;
  };

  const std::shared_ptr<Journal> journal_;
  std::mutex mutex_;  // guards the next members
  std::map<SessionId, Known> known_;
  std::size_t kept_ = 0;
};

}  // namespace praxis
