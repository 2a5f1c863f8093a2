// Asks about the parked steps of a run at the terminal where it runs.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>

#include "cli/console.hpp"
#include "cli/progress.hpp"
#include "cli/step_dialog.hpp"
#include "praxis/core/records.hpp"

namespace praxis::cli {

/// Asks the user at the terminal, one step at a time, in the order of their ids. Thread-safe.
class Questions {
 public:
  /// All must outlive the call of `close`.
  Questions(Console& console, Progress& progress, Journal& journal)
      : progress_(progress), dialog_(console, &journal) {}

  /// Returns the decision. `std::nullopt`: the user leaves the step for later, or a stop was requested.
  std::optional<Approval> ask(const ParkedStep& step, const std::stop_token& stop);
  /// Asks no further questions; waits for the current one to end, which stays open.
  void close();

 private:
  bool closed() const { return closing_.stop_requested(); }

  Progress& progress_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<ParkId> waiting_;
  bool asking_ = false;
  std::stop_source closing_;
  StepDialog dialog_;  ///< used by the asking thread
};

}  // namespace praxis::cli
