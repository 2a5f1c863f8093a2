// Writes what stands before a Chat Completions request's messages: model, settings and tools.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/chat/dialect.hpp"

namespace praxis::chat {

/// Everything that stands before the history's messages, up to their opening bracket and the instructions.
std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request);

}  // namespace praxis::chat
