// Writes the head of an Anthropic Messages request: model, limits, thinking, tools, instructions.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/anthropic/dialect.hpp"

namespace praxis::wire::messages {

/// Everything before the history's messages, up to their opening bracket.
///
/// A forced tool choice and thinking exclude each other in this protocol. The choice wins if the model can
/// answer without thinking; otherwise the choice becomes `auto`. An effort level that a model does not offer
/// becomes the next lower one that it offers, else the next higher one.
std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request);

}  // namespace praxis::wire::messages
