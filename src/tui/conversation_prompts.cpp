// Prompts of the agent's servers as commands of a chat: `/SERVER:PROMPT ARGUMENTS...`.
#include <utility>

#include "app/plain_text.hpp"
#include "app/slash_prompt.hpp"
#include "praxis/base/executor.hpp"
#include "tui/chat_commands.hpp"
#include "tui/conversation.hpp"

namespace praxis::tui {

/// Asks the server for the text, in the background; it is sent when it is there.
std::string Conversation::fill_prompt(const std::string& line, Delivery delivery) {
  if (filling_) {
    unread_.push_back(line);
    return styles_.warning("a prompt is being filled in: Esc stops it") + '\n';
  }
  filling_.emplace();
  executor()->post_blocking([line, sources = run_->prompt_sources(), stop = filling_->get_token(),
                             queues = delivery == Delivery::kQueue, feed = feed_] {
    feed->add_item(FilledPrompt{line, app::filled_prompt(line, sources, stop), queues});
  });
  return "";
}

/// Sends the text as the server gave it: a mention of a file in it, or a command, has no effect.
std::string Conversation::take_prompt(FilledPrompt prompt) {
  filling_.reset();
  if (!prompt.text) {
    unread_.push_back(prompt.command);
    return failure(prompt.text.error());
  }
  return deliver(text_message(Role::kUser, *std::move(prompt.text)),
                 prompt.queues ? Delivery::kQueue : Delivery::kNow);
}

std::shared_ptr<const std::vector<Choice>> Conversation::command_choices() {
  const auto sources = run_->prompt_sources();
  if (!prompts_) prompts_ = std::make_shared<PromptNames>(executor(), sources, waker());
  prompts_->look_up();
  return prompts_->choices();
}

}  // namespace praxis::tui
