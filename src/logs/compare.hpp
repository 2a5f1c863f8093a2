// Where the logs of two sessions part.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis {

/// Where two sessions part.
struct Comparison {
  std::uint64_t common = 0;  ///< records at the start that say the same in both
  /// The first difference: `expected` is in the first session, `found` in the second; `end of the log` where
  /// one has no further record. Nothing if both say the same.
  std::optional<Divergence> difference;
};
/// Compares the logs of two sessions, such as a run and its fork. Ids of sessions, seeds, traces, times and
/// durations do not count. Never reads a journal.
Result<Comparison> compare_sessions(const std::vector<StoredRecord>& first,
                                    const std::vector<StoredRecord>& second);

}  // namespace praxis
