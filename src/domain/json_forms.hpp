// The JSON forms of the domain's values, for code that writes them as part of another value.
#pragma once

#include "json/fields.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/domain/model_types.hpp"
#include "praxis/domain/usage.hpp"

namespace praxis {

void write(JsonFields& out, const Part& part);
void write(JsonFields& out, const Message& message);
void write(JsonFields& out, const ModelResponse& response);
void write(JsonFields& out, const Usage& usage);
/// Writes usage without the total, which follows from the other fields.
void write_counts(JsonFields& out, const Usage& usage);
/// Writes a tool result without the fields of its call, `id` and `name`.
void write_result(JsonFields& out, const ToolResultPart& part);
/// Reads both forms; `id` and `name` may be absent. Error `kInput`: an image or file cannot be read.
Result<ToolResultPart> tool_result_from_json(const Json& json);

}  // namespace praxis
