// What a turn is asked for, checked before anything is recorded or paid for.
#pragma once

#include <vector>

#include "praxis/domain/message.hpp"
#include "praxis/models/model.hpp"

namespace praxis {

/// Error `kInput`: it is no JSON Schema; says what is wrong with it and where. Null is none at all.
Status check_output_schema(const Json& schema);

/// Error `kInput`: `model` takes no images or files, and there are some in `messages`.
Status check_media(const std::vector<Message>& messages, const Model& model);

}  // namespace praxis
