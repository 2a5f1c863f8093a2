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
  if (shell_ready_ || !composer_.is_shell_command() || Clock::now() - last_read_ < kShellPause) return;
  pollfd keys{STDIN_FILENO, POLLIN, 0};
  shell_ready_ = poll(&keys, 1, 0) == 0;
}

/// Runs the text of the composer in the user's shell, if it is the user who made it a command.
void LiveChat::run_shell_command(const std::string& text) {
  if (!composer_.is_shell_command()) {
    hint_ = "not run: type the ! yourself; a blank before it makes this a message";
    return;
  }
  if (!shows_all_) {
    hint_ = "not run: all of a command must be on the screen; a script can be longer";
    return;
  }
  if (!shell_ready_) {
    hint_ = "Enter once more runs this in your shell";
    return;
  }
  const auto first = text.find_first_not_of(' ', 1);
  const std::string line = first == std::string::npos ? "" : text.substr(first);
  if (!line.empty() && conversation_.shell_command()) {
    hint_ = "another command runs: Esc stops it";
    return;
  }
  composer_.clear();
  keep_draft();
  if (!line.empty()) {
    composer_.remember(text, HistoryKind::kShellCommand);
    // Not with the mask in place of the secret: that would be another command.
    if (setup_.hide(text) == text) drafts_.remember(text, HistoryKind::kShellCommand);
  }
  print(conversation_.run_shell_command(line));
}

/// Above the composer: the command that runs, what goes with the next message, what Enter would do.
std::vector<std::string> LiveChat::shell_rows(std::size_t wide) const {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text) { lines.push_back(styles_.dim(app::one_line(text, wide))); };
  if (const auto& running = conversation_.shell_command()) {
    const auto time = std::chrono::floor<std::chrono::seconds>(Clock::now() - running->since);
    const char* what = !conversation_.shell_command_stops() ? "Esc stops your command"
                       : conversation_.is_busy()            ? "Esc stops the agent; your command is ending"
                                                            : "your command is ending";
    add(fmt::format("{} ({} s): {}", what, time.count(), app::exact(running->line)));
  }
  const ShellOutputs& outputs = conversation_.shell_outputs();
  if (const std::size_t count = outputs.size(); count > 0)
    add(fmt::format("with your next message: {} output{}{}; ! alone leaves {} out", count,
                    count == 1 ? "" : "s",
                    outputs.dropped() > 0 ? fmt::format(", without {} older", outputs.dropped()) : "",
                    count == 1 ? "it" : "them"));
  if (!lends_composer_ && composer_.is_shell_command())
    add(fmt::format("{}{}",
                    !shows_all_    ? "a command for your shell, too long to run from here"
                    : shell_ready_ ? "Enter runs this in your shell"
                                   : "a command for your shell",
                    conversation_.is_at_server() ? ", on this machine" : ""));
  return lines;
}

}  // namespace praxis::tui
