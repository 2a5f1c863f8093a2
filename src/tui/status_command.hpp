// A program of the user's that draws the status line: run in the background, so that it never stops the chat.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/base/executor.hpp"
#include "praxis/base/time.hpp"
#include "tui/status_facts.hpp"

namespace praxis::tui {

/// What came of the last run of the program; both are empty before its end.
struct StatusAnswer {
  std::string output;   ///< as it came, the beginning
  std::string failure;  ///< why there is no line, in a few words
};

/// One thread, apart from the program itself.
class StatusCommand {
 public:
  /// `wake` is called from another thread when there is another answer.
  StatusCommand(std::vector<std::string> argv, std::shared_ptr<Executor> executor,
                std::function<void()> wake);
  /// Ends a run in progress.
  ~StatusCommand();
  StatusCommand(const StatusCommand&) = delete;
  StatusCommand& operator=(const StatusCommand&) = delete;

  /// Runs the program soon if the facts are not those of the last call: once for all that changes within
  /// 300 ms. A run that lasts five seconds is killed with all its processes.
  void show(const StatusFacts& facts, Millis open_for);
  StatusAnswer answer() const;

 private:
  struct Work;

  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<Work> work_;
  std::optional<StatusFacts> last_;
  std::stop_source stop_;
};

}  // namespace praxis::tui
