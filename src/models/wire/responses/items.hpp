// Writes a conversation as the input items of a Responses request.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/responses/dialect.hpp"

namespace praxis::wire::responses {

/// Appends the items of one message, separated by commas. Items made by the target model are sent back
/// unchanged, with their ids; from other models' items only the neutral fields are sent. A reasoning item is
/// sent back only before the item that it preceded. An item whose reasoning is not sent back loses its id,
/// because the server would reject it without the reasoning. The model's own compaction replaces all earlier
/// items: they are removed from `out`.
void append_message(std::string& out, const Message& message, const CodecTarget& target,
                    const Dialect& dialect, RenderState& state);

/// A call id that servers accept: at most 64 visible ASCII characters. Other ids are replaced by a digest.
std::string wire_id(const CallId& id);

}  // namespace praxis::wire::responses
