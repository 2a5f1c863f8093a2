// Writes a conversation's messages for Chat Completions servers. Writing a message never depends on later
// ones.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/chat/dialect.hpp"

namespace praxis::wire::chat {

/// Appends the agent's instructions. They never change within a conversation, so they get a cache mark.
void append_instructions(std::string& out, std::string_view text, const Dialect& dialect);

/// Appends one message of the history, which can become several messages, separated by commas. With cache
/// marks, the last one stays open in `state` until `close_messages` marks it.
void append_message(std::string& out, const Message& message, RenderState& state, const CodecTarget& target,
                    const Dialect& dialect);

/// Closes the list of messages and the body.
void close_messages(std::string& out, const RenderState& state);

}  // namespace praxis::wire::chat
