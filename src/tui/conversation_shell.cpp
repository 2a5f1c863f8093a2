// `!command` in a chat: a command for the user's own shell.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/plain_text.hpp"
#include "tui/conversation.hpp"

namespace praxis::tui {

std::string Conversation::run_shell_command(const std::string& line) {
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

/// What a command that has ended printed, and how it ended.
std::string Conversation::take_shell_command() {
  const auto end = shell_.take();
  if (!end) return "";
  shell_outputs_.add(*end);
  std::string text = styles_.bold("! " + visible_text(end->line)) + '\n' + end->output;
  if (!end->output.empty() && !end->output.ends_with('\n')) text += '\n';
  std::string about = app::one_line(end->how, 1000);
  if (is_at_server()) about += " on this machine";
  about += "; the model sees it with your next message";
  return text + (end->how == "exit 0" ? styles_.dim(about) : styles_.warning(about)) + '\n';
}

/// Adds what the user's commands printed since the last message.
void Conversation::attach_outputs(Message& message) {
  for (std::string& block : shell_outputs_.take()) message.parts.emplace_back(TextPart{std::move(block)});
}

/// The outputs of a message that was taken back wait for the next one.
void Conversation::put_outputs_back(std::uint64_t message) {
  const auto found = outputs_of_.find(message);
  if (found == outputs_of_.end()) return;
  shell_outputs_.put_back(found->second);
  outputs_of_.erase(found);
}

/// Forgets the outputs of messages that do not wait any more: the model has read them, or another surface
/// has taken them back.
void Conversation::forget_outputs() {
  std::erase_if(outputs_of_, [this](const auto& each) {
    const auto waits = [&](const std::vector<WaitingMessage>& list) {
      return std::ranges::find(list, each.first, &WaitingMessage::id) != list.end();
    };
    return !waits(view_->steering()) && !waits(view_->queued());
  });
}

}  // namespace praxis::tui
