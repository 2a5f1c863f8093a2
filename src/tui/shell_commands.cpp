#include "tui/shell_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

#include "app/own_folder.hpp"
#include "app/user_message.hpp"
#include "base/visible_text.hpp"
#include "praxis/base/utf8.hpp"
#include "tui/users_program.hpp"

namespace praxis::tui {
namespace {

constexpr Millis kStopGrace{300};
constexpr std::size_t kMostOfEnd = ShellCommands::kMostOutput / 2;  ///< bytes of either end of a long output
/// Bytes beyond those that are read too: a secret across the cut is known only as a whole.
constexpr std::size_t kBeyondCut = std::size_t{8} << 10U;

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
  spec.limits.output_bytes = 2 * (kMostOfEnd + kBeyondCut);
  spec.limits.grace = kStopGrace;
  auto process = start_process(spec);
  if (!process) return fail(process.error());
  return process->wait(stop);
}

/// At most so many bytes of the end of a text, from the beginning of a character.
std::string_view last_bytes(std::string_view text, std::size_t most) {
  std::string_view last = text.substr(text.size() - std::min(text.size(), most));
  const auto is_inside = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; };
  for (int i = 0; i < 3 && !last.empty() && is_inside(last.front()); ++i) last.remove_prefix(1);
  return last;
}

std::string without_cut_end(const std::string& part, const std::string& whole) {
  const auto same = std::ranges::mismatch(part, whole).in1 - part.begin();
  return std::string(utf8_head(part, static_cast<std::size_t>(same)));
}

std::string without_cut_begin(const std::string& part, const std::string& whole) {
  const auto same = std::mismatch(part.rbegin(), part.rend(), whole.rbegin(), whole.rend()).first;
  return std::string(last_bytes(part, static_cast<std::size_t>(same - part.rbegin())));
}

/// What is hidden in a text cannot be hidden in a piece that begins or ends inside of it. So of each end that
/// stays, only that stays which is the same with what follows, or precedes.
std::string shown_output(const ProcessOutput& out, const HideSecrets& hide) {
  const auto safe = [&](std::string_view bytes) { return hide(visible_text(bytes)); };
  if (out.total_bytes <= ShellCommands::kMostOutput) return safe(out.text());
  const std::string_view all_of_tail = out.left_out() > 0 ? out.tail : out.head;
  const std::string_view first = utf8_head(out.head, kMostOfEnd), last = last_bytes(all_of_tail, kMostOfEnd);
  const std::string cut_head = safe(first), cut_tail = safe(last);
  const std::string head = without_cut_end(cut_head, safe(out.head));
  const std::string tail = without_cut_begin(cut_tail, safe(all_of_tail));
  const std::size_t dropped = cut_head.size() - head.size() + cut_tail.size() - tail.size();
  return fmt::format("{}\n[{} bytes left out]\n{}", head,
                     out.total_bytes - first.size() - last.size() + dropped, tail);
}

}  // namespace

ShellCommandEnd shell_command_end(const std::string& line, const Result<ProcessResult>& ended,
                                  const HideSecrets& hide) {
  return {hide(line), how_it_ended(ended), ended ? shown_output(ended->out, hide) : ""};
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
  HideSecrets hide;
  std::function<void()> wake;
  std::mutex mutex;  ///< guards `end`
  std::optional<ShellCommandEnd> end;

  void run(const std::string& line, const std::stop_token& stop) {
    ShellCommandEnd ended = shell_command_end(line, run_in_shell(line, stop), hide);
    {
      const std::lock_guard lock(mutex);
      end = std::move(ended);
    }
    wake();
  }
};

ShellCommands::ShellCommands(std::shared_ptr<Executor> executor, HideSecrets hide, std::function<void()> wake)
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
