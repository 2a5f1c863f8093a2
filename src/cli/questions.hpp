// Questions of agents, answered at the terminal at which they run.
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

/// Asks the person at the terminal one question at a time. Approvals are not asked here: a run that waits for
/// them ends, and they are decided by a command that names what is approved. Thread-safe.
class Questions {
 public:
  /// Whether somebody is there: standard input and standard error are terminals.
  static bool can_ask(const Console& console);

  /// Both must outlive the call of `close`.
  Questions(Console& console, Progress& progress) : console_(console), progress_(progress) {}

  /// The answer, `deny` from a person who declines, or nothing: it is no question, the person leaves it for
  /// later, or `stop`.
  std::optional<Approval> ask(const ParkedStep& step, const std::stop_token& stop);
  /// Asks nothing more; waits for the question that is being asked, which is left for later.
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
  std::string typed_;  ///< what was read beyond the last line; of the one who asks
};

}  // namespace praxis::cli
