// Runs of an evaluation that are made again off-line (`praxis eval --replay`): models are answered from the
// recorded run of the same case, or from a cassette, and tools from its log. Writes no journal.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "app/workspace.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::evals {

/// Whether a model of this name answers from files, without a network: one script or cassette. A route does
/// not.
bool answers_from_files(std::string_view model);

/// A run that was made again.
struct OfflineRun {
  AgentResult result;      ///< that of the record if the run is the same
  SessionId recorded;      ///< empty: no run, a cassette answered
  std::string difference;  ///< the first step that is not as recorded, and why; empty: none
};

/// Where recorded runs are, and how they are made again.
struct OfflineRunsOptions {
  app::Workspace workspace;
  std::shared_ptr<Journal> journal;  ///< of the recorded runs; only read
  Author principal;
  std::stop_token stop = {};
};

/// Thread-safe.
class OfflineRuns {
 public:
  explicit OfflineRuns(OfflineRunsOptions options) : options_(std::move(options)) {}

  /// Makes the run again. The recorded run has the id `run`, or is the newest whose agent has the same
  /// metadata `eval`. Blocks. Errors: `kInput` with `not_found`, no run is recorded; `kInput`, it has not
  /// ended, or waited for a timer; `kJournal`; that of the turn.
  Result<OfflineRun> run(const Agent& agent, const SessionId& run, const Message& message) const;
  /// A runtime like that of the workspace, with a new journal in memory. Error `kInput` or `kJournal`.
  Result<std::shared_ptr<Runtime>> open_runtime() const;

 private:
  Result<std::optional<SessionId>> recorded_run(const SessionId& run, const Json& eval) const;
  Status read_index() const;
  struct Making;
  struct Made;
  Result<Made> make(const Agent& agent, const Making& making) const;

  const OfflineRunsOptions options_;
  mutable std::mutex mutex_;
  mutable std::optional<std::map<std::string, SessionId>> index_;  ///< by `eval`, once it is needed
};

}  // namespace praxis::evals
