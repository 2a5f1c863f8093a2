// Writes Gemini requests: settings, tools and instructions first, contents last.
#pragma once

#include <string>
#include <string_view>

#include "models/codec.hpp"
#include "models/wire/gemini/dialect.hpp"

namespace praxis::gemini {

/// The path of a model, named with or without its collection (`models/`, `tunedModels/`).
std::string request_path(std::string_view model, bool stream);

/// Everything that stands before the contents, up to their opening bracket. Objects of `ModelOptions::extra`
/// are merged into the request's own, lists are joined, and what else it says takes the place of ours.
std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request);

/// Appends one message; the content in which it stands stays open for the next. Messages of instructions
/// write nothing, because they are part of the head.
void append_message(std::string& out, const Message& message, const CodecTarget& target,
                    const Dialect& dialect, RenderState& state);

/// Closes the last content and the request.
void close_request(std::string& out, const RenderState& state);

}  // namespace praxis::gemini
