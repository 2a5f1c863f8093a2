#include "tui/shell_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>

#include "app/own_folder.hpp"
#include "app/user_message.hpp"
#include "base/visible_text.hpp"
#include "tui/users_program.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostSent = 50;
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

/// Both streams of the line go into one, in the order in which it writes.
Result<ProcessResult> run_in_shell(const std::string& line, const std::stop_token& stop) {
  std::string shell = app::environment_variable("SHELL");
  if (!shell.starts_with('/')) shell = "/bin/sh";
  ProcessSpec spec = users_program({"/bin/sh", "-c", R"(exec "$0" -c "$1" 2>&1)", shell, line});
  spec.limits.output_bytes = ShellLines::kMostOutput;
  spec.limits.grace = kStopGrace;
  auto process = start_process(spec);
  if (!process) return fail(process.error());
  return process->wait(stop);
}

}  // namespace

ShellLineEnd shell_line_end(std::string line, const Result<ProcessResult>& ended) {
  return {std::move(line), how_it_ended(ended), ended ? visible_text(ended->out.text()) : ""};
}

// ---- what goes with the next message ----------------------------------------------------------------------

std::size_t ShellOutputs::add(const ShellLineEnd& end) {
  waiting_.push_back(app::command_block(end.line, end.how, end.output));
  return drop_oldest();
}

/// The last one always stays.
std::size_t ShellOutputs::drop_oldest() {
  std::size_t bytes = 0, kept = 0;
  while (kept < waiting_.size()) {
    bytes += waiting_[waiting_.size() - kept - 1].size();
    if (kept > 0 && bytes > kMostBytes) break;
    ++kept;
  }
  const std::size_t dropped = waiting_.size() - kept;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(dropped));
  return dropped;
}

std::vector<std::string> ShellOutputs::take(const std::string& message) {
  if (waiting_.empty()) return {};
  if (sent_.size() == kMostSent) sent_.pop_front();
  sent_.emplace_back(message, waiting_);
  return std::exchange(waiting_, {});
}

void ShellOutputs::put_back(const std::string& message) {
  // The last one of this text: an earlier one is with the model.
  const auto last = std::ranges::find(sent_.rbegin(), sent_.rend(), message,
                                      [](const auto& each) -> const std::string& { return each.first; });
  if (last == sent_.rend()) return;
  const auto found = std::prev(last.base());
  waiting_.insert(waiting_.begin(), std::move_iterator(found->second.begin()),
                  std::move_iterator(found->second.end()));
  sent_.erase(found);
  drop_oldest();
}

// ---- running them -----------------------------------------------------------------------------------------

struct ShellLines::Work {
  std::function<void()> wake;
  std::mutex mutex;  ///< guards `end`
  std::optional<ShellLineEnd> end;

  void run(const std::string& line, const std::stop_token& stop) {
    ShellLineEnd ended = shell_line_end(line, run_in_shell(line, stop));
    {
      const std::lock_guard lock(mutex);
      end = std::move(ended);
    }
    wake();
  }
};

ShellLines::ShellLines(std::shared_ptr<Executor> executor, std::function<void()> wake)
    : executor_(std::move(executor)), work_(std::make_shared<Work>()) {
  work_->wake = std::move(wake);
}

ShellLines::~ShellLines() { stop(); }

void ShellLines::start(const std::string& line) {
  stop_ = std::stop_source();
  running_ = Running{line, std::chrono::steady_clock::now()};
  executor_->post_blocking([work = work_, line, stop = stop_.get_token()] { work->run(line, stop); });
}

std::optional<ShellLineEnd> ShellLines::take() {
  const std::lock_guard lock(work_->mutex);
  if (work_->end) running_.reset();
  return std::exchange(work_->end, std::nullopt);
}

}  // namespace praxis::tui
