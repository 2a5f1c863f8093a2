#include "tui/shell_commands.hpp"

#include <fmt/format.h>

#include <mutex>

#include "app/own_folder.hpp"
#include "app/user_message.hpp"
#include "base/visible_text.hpp"
#include "tui/users_program.hpp"

namespace praxis::tui {
namespace {

constexpr Millis kStopGrace{300};

std::string how_it_ended(const Result<ProcessResult>& ended) {
  if (!ended) return visible_text(ended.error().message);
  switch (ended->end) {
    case ProcessEnd::kExited:
      return fmt::format("exit {}", ended->exit_code);
    case ProcessEnd::kSignalled:
      return fmt::format("signal {}", ended->signal);
    default:
      return "stopped";
  }
}

/// Both streams of the command go into one, in the order in which it writes.
Result<ProcessResult> run_in_shell(const std::string& line, const std::stop_token& stop) {
  if (stop.stop_requested()) return fail(ErrorCode::kCancelled, "stopped");
  std::string shell = app::environment_variable("SHELL");
  if (!shell.starts_with('/')) shell = "/bin/sh";
  ProcessSpec spec = users_program({"/bin/sh", "-c", R"(exec "$0" -c "$1" 2>&1)", shell, line});
  spec.limits.output_bytes = ShellCommands::kMostOutput;
  spec.limits.grace = kStopGrace;
  auto process = start_process(spec);
  if (!process) return fail(process.error());
  return process->wait(stop);
}

}  // namespace

ShellCommandEnd shell_command_end(std::string line, const Result<ProcessResult>& ended) {
  return {std::move(line), how_it_ended(ended), ended ? visible_text(ended->out.text()) : ""};
}

// ---- what goes with the next message ----------------------------------------------------------------------

void ShellOutputs::add(const ShellCommandEnd& end) {
  waiting_.push_back(app::command_block(end.line, end.how, end.output));
  drop_oldest();
}

/// The last one always stays.
void ShellOutputs::drop_oldest() {
  std::size_t bytes = 0, kept = 0;
  while (kept < waiting_.size()) {
    bytes += waiting_[waiting_.size() - kept - 1].size();
    if (kept > 0 && bytes > kMostBytes) break;
    ++kept;
  }
  const std::size_t too_many = waiting_.size() - kept;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(too_many));
  dropped_ += too_many;
}

std::vector<std::string> ShellOutputs::take() {
  dropped_ = 0;
  return std::exchange(waiting_, {});
}

void ShellOutputs::put_back(const std::vector<std::string>& blocks) {
  waiting_.insert(waiting_.begin(), blocks.begin(), blocks.end());
  drop_oldest();
}

// ---- running them -----------------------------------------------------------------------------------------

struct ShellCommands::Work {
  std::function<std::string(std::string)> hide;
  std::function<void()> wake;
  std::mutex mutex;  ///< guards `end`
  std::optional<ShellCommandEnd> end;

  void run(const std::string& line, const std::stop_token& stop) {
    ShellCommandEnd ended = shell_command_end(line, run_in_shell(line, stop));
    ended.line = hide(std::move(ended.line));
    ended.output = hide(std::move(ended.output));
    {
      const std::lock_guard lock(mutex);
      end = std::move(ended);
    }
    wake();
  }
};

ShellCommands::ShellCommands(std::shared_ptr<Executor> executor, std::function<std::string(std::string)> hide,
                             std::function<void()> wake)
    : executor_(std::move(executor)), work_(std::make_shared<Work>()) {
  work_->hide = std::move(hide);
  work_->wake = std::move(wake);
}

ShellCommands::~ShellCommands() { stop(); }

void ShellCommands::start(const std::string& line) {
  stop_ = std::stop_source();
  running_ = Running{line, std::chrono::steady_clock::now()};
  executor_->post_blocking([work = work_, line, stop = stop_.get_token()] { work->run(line, stop); });
}

std::optional<ShellCommandEnd> ShellCommands::take() {
  const std::lock_guard lock(work_->mutex);
  if (work_->end) running_.reset();
  return std::exchange(work_->end, std::nullopt);
}

}  // namespace praxis::tui
