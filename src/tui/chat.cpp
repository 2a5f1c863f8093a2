#include "tui/chat.hpp"

#include <utility>

#include "tui/conversation.hpp"
#include "tui/live_chat.hpp"
#include "tui/plain_chat.hpp"
#include "tui/raw_terminal.hpp"

namespace praxis::tui {

Result<SessionId> run_chat(const ChatSetup& setup, std::unique_ptr<ChatRun> run) {
  Conversation conversation(setup, std::move(run));
  if (setup.plain) {
    plain_chat(setup, conversation);
  } else {
    auto terminal = RawTerminal::open();
    if (!terminal) return fail(terminal.error());
    LiveChat(setup, conversation, *terminal).run();
  }
  return conversation.is_recorded() ? conversation.id() : SessionId();
}

}  // namespace praxis::tui
