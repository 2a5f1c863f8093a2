// `!command` in a chat: a line for the user's own shell.
#include <fmt/format.h>

#include <utility>

#include "app/plain_text.hpp"
#include "app/user_message.hpp"
#include "tui/conversation.hpp"

namespace praxis::tui {

std::string Conversation::run_shell_line(const std::string& line) {
  if (line.empty()) {
    const std::size_t dropped = shell_outputs_.size();
    shell_outputs_.clear();
    if (dropped == 0) return styles_.dim("! and a command runs it in your shell") + '\n';
    return styles_.dim(
               fmt::format("{} output{} left out of the next message", dropped, dropped == 1 ? "" : "s")) +
           '\n';
  }
  if (shell_.running()) return styles_.error("another command runs: Esc stops it") + '\n';
  shell_.start(line);
  return "";
}

/// What a line that has ended printed, and how it ended.
std::string Conversation::take_shell_line() {
  const auto end = shell_.take();
  if (!end) return "";
  const std::size_t dropped = shell_outputs_.add(*end);
  std::string text = styles_.bold("! " + visible_text(end->line)) + '\n' + end->output;
  if (!end->output.empty() && !end->output.ends_with('\n')) text += '\n';
  std::string about = app::one_line(end->how, 1000);
  if (is_at_server()) about += " on this machine";
  about += "; the model sees it with your next message";
  if (dropped > 0) about += fmt::format(", without {} older output{}", dropped, dropped == 1 ? "" : "s");
  return text + (end->how == "exit 0" ? styles_.dim(about) : styles_.warning(about)) + '\n';
}

/// Adds what the user's commands printed since the last message.
void Conversation::attach_outputs(Message& message) {
  for (std::string& block : shell_outputs_.take(app::readable_message(message.text()).text))
    message.parts.emplace_back(TextPart{std::move(block)});
}

}  // namespace praxis::tui
