// Checks the input of a turn before anything is recorded or paid for.
#pragma once

#include <vector>

#include "praxis/domain/message.hpp"
#include "praxis/models/model.hpp"

namespace praxis {

/// Error `kInput` when `schema` is not a valid JSON Schema; the message says what is wrong and where. Null
/// passes: there is no schema.
Status check_output_schema(const Json& schema);

/// Error `kInput` when `messages` contain images or files that `model` does not accept.
Status check_media(const std::vector<Message>& messages, const Model& model);

}  // namespace praxis
