// The JSON forms of the domain's values, for those who write them as a part of another.
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
/// The same without the total, which is known from the others.
void write_counts(JsonFields& out, const Usage& usage);
/// A tool result without what the call that it answers says: `id` and `name`.
void write_result(JsonFields& out, const ToolResultPart& part);
/// Reads both forms; `id` and `name` may be absent. Error `kInput`: an image or file that cannot be read.
Result<ToolResultPart> tool_result_from_json(const Json& json);

}  // namespace praxis
