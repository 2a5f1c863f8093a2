// A chat in lines, for screen readers, dumb terminals and pipes: everything is written once, nothing is drawn
// again.
#pragma once

#include "tui/conversation.hpp"

namespace praxis::tui {

/// Until the user leaves, or standard input has ended and no turn is in progress.
void plain_chat(const ChatSetup& setup, Conversation& conversation);

}  // namespace praxis::tui
