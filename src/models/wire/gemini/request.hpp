// Writes Gemini requests: settings, tools and instructions first, contents last.
#pragma once

#include <string>
#include <string_view>

#include "models/codec.hpp"
#include "models/wire/gemini/dialect.hpp"

namespace praxis::wire::gemini {

/// The path of a model, named with or without its collection (`models/`, `tunedModels/`).
std::string request_path(std::string_view model, bool stream);

/// Everything before the contents, up to their opening bracket. From `ModelOptions::extra`, objects are
/// merged with the request's, lists are concatenated, and other values replace ours.
std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request);

/// Appends one message; its content stays open for the next message. Instruction messages write nothing,
/// because they are part of the head.
void append_message(std::string& out, const Message& message, const CodecTarget& target,
                    const Dialect& dialect, RenderState& state);

/// Closes the last content and the request.
void close_request(std::string& out, const RenderState& state);

}  // namespace praxis::wire::gemini
