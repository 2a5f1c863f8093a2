#include "tui/status_command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "tui/styled_line.hpp"
#include "tui/users_program.hpp"

namespace praxis::tui {
namespace {

using namespace std::chrono_literals;

constexpr auto kStatusPause = 300ms;  ///< from the start of one run to that of the next
constexpr Millis kStatusTime{5'000};
constexpr std::size_t kStatusOutput = 4096;

StatusAnswer failed_status(std::string why) { return {"", std::move(why)}; }

StatusAnswer answer_of(const Result<ProcessResult>& ended) {
  if (!ended) return failed_status("lost");
  if (ended->end == ProcessEnd::kTimedOut) return failed_status("no end within 5 s");
  if (ended->end != ProcessEnd::kExited) return failed_status(fmt::format("signal {}", ended->signal));
  if (ended->exit_code != 0) return failed_status(fmt::format("exit {}", ended->exit_code));
  const std::string text = styled_line(ended->out.head, kStatusOutput, KeepStyles::kNo);
  if (text.find_first_not_of(' ') == std::string::npos) return failed_status("printed nothing");
  return {ended->out.head, ""};
}

StatusAnswer ask_program(const std::vector<std::string>& argv, const StatusFacts& facts, Millis open_for,
                         const std::stop_token& stop) {
  ProcessSpec spec = users_program(argv);
  spec.environment["COLUMNS"] = std::to_string(facts.columns);
  spec.input = to_json_text(status_json(facts, status_place(spec.folder), open_for)) + '\n';
  spec.limits.output_bytes = kStatusOutput;
  spec.limits.wall_time = kStatusTime;
  auto process = start_process(spec);
  return process ? answer_of(process->wait(stop)) : failed_status("cannot be started");
}

}  // namespace

struct StatusCommand::Work {
  /// Facts that the program has not seen.
  struct Fresh {
    StatusFacts facts;
    Millis open_for;
  };

  std::vector<std::string> argv;
  std::function<void()> wake;

  std::mutex mutex;  ///< guards the next members
  std::condition_variable_any stopped;
  std::optional<Fresh> fresh;
  bool runs = false;
  StatusAnswer answer;

  /// The facts for another run; nothing: they are unchanged, and the work has ended.
  std::optional<Fresh> take() {
    const std::lock_guard lock(mutex);
    runs = fresh.has_value();
    return std::exchange(fresh, std::nullopt);
  }
  void run(const std::stop_token& stop) {
    while (const auto next = take()) {
      const auto start = std::chrono::steady_clock::now();
      StatusAnswer got = ask_program(argv, next->facts, next->open_for, stop);
      if (stop.stop_requested()) return;
      std::unique_lock lock(mutex);
      answer = std::move(got);
      wake();
      stopped.wait_until(lock, stop, start + kStatusPause, [] { return false; });
      if (stop.stop_requested()) return;
    }
  }
};

StatusCommand::StatusCommand(std::vector<std::string> argv, std::shared_ptr<Executor> executor,
                             std::function<void()> wake)
    : executor_(std::move(executor)), work_(std::make_shared<Work>()) {
  work_->argv = std::move(argv);
  work_->wake = std::move(wake);
}

StatusCommand::~StatusCommand() { stop_.request_stop(); }

void StatusCommand::show(const StatusFacts& facts, Millis open_for) {
  if (last_ == facts) return;
  last_ = facts;
  {
    const std::lock_guard lock(work_->mutex);
    work_->fresh = Work::Fresh{facts, open_for};
    if (std::exchange(work_->runs, true)) return;
  }
  executor_->post_blocking([work = work_, stop = stop_.get_token()] { work->run(stop); });
}

StatusAnswer StatusCommand::answer() const {
  const std::lock_guard lock(work_->mutex);
  return work_->answer;
}

}  // namespace praxis::tui
