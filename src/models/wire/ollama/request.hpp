// Writes requests of the Ollama protocol: model, settings and tools first, messages last.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/ollama/dialect.hpp"

namespace praxis::wire::ollama {

/// Everything before the history's messages: includes their opening bracket and the instructions.
std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request);

/// Appends one message of the history: each result is one message; images of results follow in another.
void append_message(std::string& out, const Message& message, const CodecTarget& target);

}  // namespace praxis::wire::ollama
