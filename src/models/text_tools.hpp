// Tool calls for models without native support: definitions and calling convention go into the instructions,
// calls and results of the conversation become text, and calls are parsed from the answer's text.
#pragma once

#include <memory>

#include "praxis/models/model.hpp"

namespace praxis {

/// Wraps `model` so that it accepts tools. Calls that cannot be parsed are returned as invalid, so that the
/// loop asks the model to repeat them. Each request of a conversation still starts with the same bytes as the
/// one before. Thread-safe.
std::shared_ptr<Model> with_text_tools(std::shared_ptr<Model> model);

}  // namespace praxis
