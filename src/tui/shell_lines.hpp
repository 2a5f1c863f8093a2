// Lines that the user typed after `!`: the user's own shell runs them, one at a time and in the background,
// in the folder of the chat and with the user's rights. What they printed is kept for the next message.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "praxis/base/executor.hpp"
#include "praxis/process/process.hpp"

namespace praxis::tui {

/// What came of a line.
struct ShellLineEnd {
  std::string line;
  std::string how;     ///< `exit 0`, `signal 9`, `stopped`, or why it did not run
  std::string output;  ///< of both streams, its beginning and its end; safe to display
};
/// Of a process that has ended, or could not be watched.
ShellLineEnd shell_line_end(std::string line, const Result<ProcessResult>& ended);

/// What goes with the next message: the last outputs. Pure.
class ShellOutputs {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 10U;  ///< together

  /// Returns how many older ones are left out in favour of this one.
  std::size_t add(const ShellLineEnd& end);
  std::size_t size() const { return waiting_.size(); }
  void clear() { waiting_.clear(); }
  /// The blocks for a message, which then wait no more.
  std::vector<std::string> take(const std::string& message);
  /// A message has come back that was sent with blocks: they wait again.
  void put_back(const std::string& message);

 private:
  std::size_t drop_oldest();

  std::vector<std::string> waiting_;
  std::deque<std::pair<std::string, std::vector<std::string>>> sent_;  ///< the last messages with blocks
};

/// One thread, apart from the programs.
class ShellLines {
 public:
  static constexpr std::size_t kMostOutput = std::size_t{16} << 10U;  ///< bytes of a line's output

  /// `wake` is called from another thread when a line has ended.
  ShellLines(std::shared_ptr<Executor> executor, std::function<void()> wake);
  /// Stops a line that runs.
  ~ShellLines();
  ShellLines(const ShellLines&) = delete;
  ShellLines& operator=(const ShellLines&) = delete;

  /// The line that runs, and for how long; nothing: none does.
  struct Running {
    std::string line;
    std::chrono::steady_clock::time_point since;
  };
  const std::optional<Running>& running() const { return running_; }
  /// Starts a line. Call only while none runs.
  void start(const std::string& line);
  /// Ends the line that runs with all processes that it started; `take` then has its end, unless one of them
  /// cannot be ended. Returns whether this is the first request.
  bool stop() { return running_.has_value() && stop_.request_stop(); }
  bool is_stopping() const { return running_.has_value() && stop_.stop_requested(); }
  /// The end of the line that ran; once.
  std::optional<ShellLineEnd> take();

 private:
  struct Work;

  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<Work> work_;
  std::optional<Running> running_;
  std::stop_source stop_;
};

}  // namespace praxis::tui
