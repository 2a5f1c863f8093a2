// Writes the messages of an Anthropic Messages request: alternating roles, results before text, reasoning
// with its signature.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/anthropic/dialect.hpp"

namespace praxis::wire::messages {

/// Appends one message of the history. Omits instructions, which are part of the request's head.
void append_message(std::string& out, const Message& message, RenderState& state, const CodecTarget& target,
                    const Dialect& dialect);
/// Closes the last message and the list of messages.
void close_messages(std::string& out, const RenderState& state);

/// `{"type":"text","text":...}`
void append_text_block(std::string& out, std::string_view text);
/// Whether a text is empty or only white space, which the server rejects.
bool is_blank(std::string_view text);

/// A call id that servers accept, `[A-Za-z0-9_-]{1,64}`; other ids are replaced by a digest.
std::string wire_id(const CallId& id);

}  // namespace praxis::wire::messages
