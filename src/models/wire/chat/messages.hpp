// Writes a conversation's messages as Chat Completions servers read them, each without a look at those
// behind.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/chat/dialect.hpp"

namespace praxis::chat {

/// Appends the agent's instructions. They never change within a conversation, so they are cached by mark.
void append_instructions(std::string& out, std::string_view text, const Dialect& dialect);

/// Appends one message as the wire has it: it can be several, separated by commas. With cache marks the last
/// one stays open in `state` for `close_messages` to mark.
void append_message(std::string& out, const Message& message, RenderState& state, const CodecTarget& target,
                    const Dialect& dialect);

/// Ends the list of messages, and the body.
void close_messages(std::string& out, const RenderState& state);

}  // namespace praxis::chat
