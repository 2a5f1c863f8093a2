// `!command` at a terminal that can be redrawn.
#include <fmt/format.h>
#include <poll.h>

#include <string>
#include <vector>

#include "app/plain_text.hpp"
#include "tui/live_chat.hpp"

namespace praxis::tui {

/// Terminals do not all mark what is pasted. The Enter of the user is a key of its own after a pause; that of
/// a paste comes with the rest, also where the terminal cuts the paste into pieces.
void LiveChat::look_for_pause() {
  if (shell_ready_ || !composer_.is_shell_line() || Clock::now() - last_read_ < kShellPause) return;
  pollfd keys{STDIN_FILENO, POLLIN, 0};
  shell_ready_ = poll(&keys, 1, 0) == 0;
}

/// Runs the text of the composer in the user's shell, if it is the user who made it a command.
void LiveChat::run_shell_line(const std::string& text) {
  if (!composer_.is_shell_line()) {
    hint_ = "not run: type the ! yourself; a blank before it makes this a message";
    return;
  }
  if (!shell_ready_) {
    hint_ = "Enter once more runs this in your shell";
    return;
  }
  const auto first = text.find_first_not_of(' ', 1);
  const std::string line = first == std::string::npos ? "" : text.substr(first);
  if (!line.empty() && conversation_.shell_line()) {
    hint_ = "another command runs: Esc stops it";
    return;
  }
  composer_.clear();
  keep_draft();
  if (!line.empty()) {
    composer_.remember(text, Sent::kShellLine);
    drafts_.remember(text, Sent::kShellLine);
  }
  print(conversation_.run_shell_line(line));
}

/// Above the composer: the command that runs, what goes with the next message, what Enter would do.
std::vector<std::string> LiveChat::shell_lines(std::size_t wide) const {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text) { lines.push_back(styles_.dim(app::one_line(text, wide))); };
  if (const auto& running = conversation_.shell_line()) {
    const auto time = std::chrono::floor<std::chrono::seconds>(Clock::now() - running->since);
    const char* what = !conversation_.shell_line_stops() ? "Esc stops your command"
                       : conversation_.is_busy()         ? "Esc stops the agent; your command is ending"
                                                         : "your command is ending";
    add(fmt::format("{} ({} s): {}", what, time.count(), app::exact(running->line)));
  }
  if (const std::size_t outputs = conversation_.shell_outputs(); outputs > 0)
    add(fmt::format("with your next message: {} output{}; ! alone leaves {} out", outputs,
                    outputs == 1 ? "" : "s", outputs == 1 ? "it" : "them"));
  if (!lends_composer_ && composer_.is_shell_line())
    add(fmt::format("{}{}", shell_ready_ ? "Enter runs this in your shell" : "a command for your shell",
                    conversation_.is_at_server() ? ", on this machine" : ""));
  return lines;
}

}  // namespace praxis::tui
