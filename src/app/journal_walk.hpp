// Reads the logs of a journal one after the other, for reports over many runs, and what their records say of
// model calls.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "praxis/base/time.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::app {

struct WalkRange {
  UnixMillis from = {}, until = {};  ///< only logs that were written to in this time
  /// Whether a session counts; null: all do.
  std::function<bool(const SessionId& session)> counts = nullptr;
  std::size_t max_sessions = 10'000;  ///< logs that are read, those that were written to last
};

/// Calls `each` with the records of each log, the one that was written to last first. Leaves out sessions
/// that another process removes meanwhile, and damaged ones. Returns whether all were read. Error `kJournal`.
Result<bool> walk_journal(Journal& journal, WalkRange range,
                          const std::function<void(const std::vector<StoredRecord>&)>& each);

/// What a model call used, and its model as the vendor named it, if there is an answer.
struct Spent {
  Usage usage;
  std::string model;
};
/// What a record says that a model call used, also one that failed or whose outcome is unknown.
std::optional<Spent> spent_by(const RecordBody& body);

/// The agent that a record gives the session; null for other records.
const AgentSpec* agent_in(const RecordBody& body);
/// The model in reports: what users wrote, such as `openai:gpt-5`, not the version that answered; of a route
/// over several models the one that answered, if there was an answer.
std::string model_of(const AgentSpec& agent, const std::string& answered);

/// The day of a time (UTC): `2026-01-31`.
std::string day_of(UnixMillis time);

}  // namespace praxis::app
