// Prompts of the agent's servers as commands of an editor: `/SERVER:PROMPT ARGUMENTS...`.
#include <utility>
#include <variant>

#include "app/slash_prompt.hpp"
#include "praxis/base/executor.hpp"
#include "protocols/acp_agent.hpp"

namespace praxis::protocols {

/// Tells the editor the prompts once the servers have said which they offer.
void AcpAgent::show_prompts(const AcpConversationPtr& conversation) {
  auto sources = conversation->session->prompt_sources();
  if (sources.empty()) return;
  conversation->folder->runtime->model_services().executor->post_blocking(
      [this, id = conversation->id, skills = conversation->skills, sources = std::move(sources),
       working = std::make_shared<Working>(*this)] {
        const auto prompts = app::offered_prompts(sources, over_.get_token());
        if (!prompts.empty()) update(id, acp_commands_update(skills, prompts));
      });
}

/// Asks the server for the text that a command stands for, which is then the message of the user as it is.
void AcpAgent::fill_prompt(const AcpConversationPtr& conversation, const Json& id, Message message) {
  std::stop_source stop;
  {
    const std::lock_guard lock(mutex_);
    if (conversation->filling)
      return peer_.refuse(id, kRpcInvalidRequest, "another prompt of a server is being filled in");
    conversation->filling = stop;
  }
  conversation->folder->runtime->model_services().executor->post_blocking(
      [this, conversation, id, message = std::move(message), stop,
       working = std::make_shared<Working>(*this)]() mutable {
        const auto text =
            app::filled_prompt(message.text(), conversation->session->prompt_sources(), stop.get_token());
        if (stop.stop_requested()) {
          peer_.respond(id, JsonObject{{"stopReason", "cancelled"}});
        } else if (!text) {
          peer_.refuse(id, kRpcInvalidParams, text.error().message);
        } else {
          accept(conversation, id, text_message(Role::kUser, *text));
        }
        const std::lock_guard lock(mutex_);
        conversation->filling.reset();
        idle_.notify_all();
      });
}

}  // namespace praxis::protocols
