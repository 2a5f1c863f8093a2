// Writes requests of Ollama's own protocol: model, settings and tools first, messages last.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/ollama/dialect.hpp"

namespace praxis::ollama {

/// Everything that stands before the history's messages, up to their opening bracket and the instructions.
std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request);

/// Appends one message as the wire has it: results are one message each, and their images follow in another.
void append_message(std::string& out, const Message& message, const CodecTarget& target);

}  // namespace praxis::ollama
