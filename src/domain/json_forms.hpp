// The JSON forms of the domain's values, for those who write them as a part of another.
#pragma once

#include "base/json_fields.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/domain/model_types.hpp"
#include "praxis/domain/usage.hpp"

namespace praxis {

void write(JsonFields& out, const Part& part);
void write(JsonFields& out, const ToolResultPart& part);
void write(JsonFields& out, const Message& message);
void write(JsonFields& out, const ModelResponse& response);
void write(JsonFields& out, const Usage& usage);

}  // namespace praxis
