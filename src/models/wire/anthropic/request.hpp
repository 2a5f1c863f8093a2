// Writes the head of an Anthropic Messages request: model, limits, thinking, tools, instructions.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "models/wire/anthropic/dialect.hpp"

namespace praxis::messages {

/// Everything that stands before the history's messages, up to their opening bracket.
///
/// A forced tool choice and thinking exclude each other on this wire: the choice wins where the model can do
/// without thinking, else it becomes `auto`. A level of effort that a model is not offered becomes the next
/// lower one that is, else the next higher.
std::string request_head(const CodecTarget& target, const Dialect& dialect, const ModelRequest& request);

}  // namespace praxis::messages
