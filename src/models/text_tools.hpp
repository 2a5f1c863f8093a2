// Tools for models that cannot be offered any: the definitions and a way to call go into the instructions,
// the calls and results of the conversation become text, and calls are read from the text of the answer.
#pragma once

#include <memory>

#include "praxis/models/model.hpp"

namespace praxis {

/// A model that takes tools, over one that does not. Calls that cannot be read come as invalid ones, so that
/// the loop asks for them again. The bytes that a conversation's next request begins with stay those of the
/// last, as they do without this. Thread-safe.
std::shared_ptr<Model> with_text_tools(std::shared_ptr<Model> model);

}  // namespace praxis
