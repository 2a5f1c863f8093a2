// Commands that the user typed after `!`: the user's own shell runs them, one at a time and in the
// background, in the folder of the chat and with the user's rights. What they printed is kept for the next
// message.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/base/executor.hpp"
#include "praxis/process/process.hpp"

namespace praxis::tui {

/// A command that has ended, or could not run.
struct ShellCommandEnd {
  std::string line;
  std::string how;     ///< `exit 0`, `signal 9`, `stopped`, or why it did not run
  std::string output;  ///< of both streams, its beginning and its end; safe to display
};
/// Returns a text without the secrets that are known.
using HideSecrets = std::function<std::string(std::string text)>;
/// Of a process that has ended, or could not be watched. `hide` is applied to the line and to what the
/// process wrote; of a secret across the place where a long output is cut, no part stays.
ShellCommandEnd shell_command_end(const std::string& line, const Result<ProcessResult>& ended,
                                  const HideSecrets& hide);

/// The outputs that go with the next message. Pure.
class ShellOutputs {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 10U;  ///< together, but for the last one

  void add(const ShellCommandEnd& end);
  std::size_t size() const { return waiting_.size(); }
  /// How many older outputs the bound has dropped since the last message.
  std::size_t dropped() const { return dropped_; }
  void clear() { take(); }
  /// Removes and returns the blocks for a message.
  std::vector<std::string> take();
  /// Puts the blocks of a message that was taken back before those that wait.
  void put_back(const std::vector<std::string>& blocks);

 private:
  void drop_oldest();

  std::vector<std::string> waiting_;
  std::size_t dropped_ = 0;
};

/// Call from one thread; a command runs on another.
class ShellCommands {
 public:
  static constexpr std::size_t kMostOutput = std::size_t{16} << 10U;  ///< bytes of a command's output

  /// `hide` is that of `shell_command_end`; `wake` says that a command has ended. Another thread calls both.
  ShellCommands(std::shared_ptr<Executor> executor, HideSecrets hide, std::function<void()> wake);
  /// Stops the command that runs.
  ~ShellCommands();
  ShellCommands(const ShellCommands&) = delete;
  ShellCommands& operator=(const ShellCommands&) = delete;

  struct Running {
    std::string line;
    std::chrono::steady_clock::time_point since;
  };
  /// The command that runs, if there is one.
  const std::optional<Running>& running() const { return running_; }
  /// Starts a command. Requires that no other runs.
  void start(const std::string& line);
  /// Ends the command that runs with all processes that it started; `take` then has its end, unless one of
  /// them cannot be ended. Returns whether this is the first request.
  bool stop() { return running_.has_value() && stop_.request_stop(); }
  bool is_stopping() const { return running_.has_value() && stop_.stop_requested(); }
  /// The end of the command that ran; once.
  std::optional<ShellCommandEnd> take();

 private:
  struct Work;

  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<Work> work_;
  std::optional<Running> running_;
  std::stop_source stop_;
};

}  // namespace praxis::tui
