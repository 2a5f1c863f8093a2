// Writes the messages of an Anthropic Messages request: roles that alternate, results before words, thinking
// as it was signed.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/anthropic/dialect.hpp"

namespace praxis::messages {

/// Appends one message of the history. Instructions are left out: they stand in the request's head.
void append_message(std::string& out, const Message& message, RenderState& state, const CodecTarget& target,
                    const Dialect& dialect);
/// Ends the last message and the list of them.
void close_messages(std::string& out, const RenderState& state);

/// `{"type":"text","text":...}`
void append_text_block(std::string& out, std::string_view text);
/// Whether a text is empty or white space alone, which no block may be.
bool is_blank(std::string_view text);

/// A call id as servers accept it, `[A-Za-z0-9_-]{1,64}`: any other is replaced by a digest of it.
std::string wire_id(const CallId& id);

}  // namespace praxis::messages
