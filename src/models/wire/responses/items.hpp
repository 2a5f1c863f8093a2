// Writes a conversation as the input items of a Responses request.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/responses/dialect.hpp"

namespace praxis::responses {

/// Appends the items of one message, separated by commas. What the very model made goes back as it came, with
/// its ids; of another's work only the neutral fields do. Reasoning goes back only before the item that it
/// preceded; an item whose reasoning does not go back loses its id, by which a server would miss it. The
/// model's own compaction stands for all items before it: they are taken back.
void append_message(std::string& out, const Message& message, const CodecTarget& target,
                    const Dialect& dialect, RenderState& state);

/// A call id as servers accept it, at most 64 visible ASCII characters: others are replaced by a digest.
std::string wire_id(const CallId& id);

}  // namespace praxis::responses
