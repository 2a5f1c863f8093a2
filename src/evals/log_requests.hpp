// The requests that a log made to models, and where those of two logs first differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "praxis/logs/logs.hpp"

namespace praxis::evals {

/// A request of a log.
struct LoggedRequest {
  std::uint32_t step = 0;
  std::uint64_t seq = 0;  ///< number of the record that intended it
  AgentSpecPtr agent;     ///< as it was described then
  /// The request, after those that the model refused or did not answer before it.
  std::vector<RequestDigest> sent;
  bool is_answered = false;
};

/// The requests in their order, side queries and summaries too. Error `kJournal`.
Result<std::vector<LoggedRequest>> requests_of(const std::vector<StoredRecord>& records);

/// The step whose answer made this call; 0 if the log has no such call.
std::uint32_t step_of_call(const std::vector<StoredRecord>& records, const CallId& call);

/// The first request that is not the recorded one.
struct RequestDifference {
  std::uint32_t step = 0;
  std::string what;  ///< a sentence without a full stop
};
/// Nothing if each request of `now` is the recorded one of the same number and answered if that was. Fewer
/// requests than recorded are no difference.
std::optional<RequestDifference> request_difference(const std::vector<LoggedRequest>& recorded,
                                                    const std::vector<LoggedRequest>& now);

}  // namespace praxis::evals
