// Writes the head of a Chat Completions request: model, settings and tools.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/chat/dialect.hpp"

namespace praxis::wire::chat {

/// Everything before the history's messages: includes the opening bracket of `messages` and the instructions.
std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request);

}  // namespace praxis::wire::chat
