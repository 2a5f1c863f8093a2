// Asks agents' questions at the terminal where they run.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "cli/console.hpp"
#include "cli/progress.hpp"
#include "praxis/core/records.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis::cli {

/// Asks the user at the terminal, one question at a time. Approvals are not requested here: a run that awaits
/// one ends, and the approver uses a command that names the step. Thread-safe.
class Questions {
 public:
  /// Whether a user is present: standard input and standard error are terminals.
  static bool can_ask(const Console& console);

  /// Both must outlive the call of `close`.
  Questions(Console& console, Progress& progress) : console_(console), progress_(progress) {}

  /// Returns the answer, or a rejection if the user declines. `std::nullopt`: the step is not a question, the
  /// user leaves it for later, or a stop was requested.
  std::optional<Approval> ask(const ParkedStep& step, const std::stop_token& stop);
  /// Asks no further questions; waits for the current one to end, which stays open.
  void close();

 private:
  std::optional<Approval> ask_now(const ParkedStep& step, const std::stop_token& stop);
  std::optional<std::string> read_line(const std::stop_token& stop);
  bool closed() const { return closing_.stop_requested(); }

  Console& console_;
  Progress& progress_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool asking_ = false;
  std::stop_source closing_;
  std::string typed_;  ///< input read beyond the last line; used by the asking thread
};

}  // namespace praxis::cli
