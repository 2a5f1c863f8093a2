// Requests of an MCP server for a model's answer (sampling): each is a turn of a sub-agent without tools
// below the call that the server works on, so that the journal, the limits and the filters of the call hold
// for it.
#pragma once

#include <string>

#include "praxis/tools/tool.hpp"

namespace praxis {

/// Whether a server asks for a model's answer. `request`: `{method, params}`.
bool asks_for_sample(const Json& request);
/// What a person reads who decides whether the server gets the answer.
std::string sample_question(const std::string& server, const Json& request);
/// Lets the model of the agent answer, and gives the answer in the protocol's form. When the handler runs
/// again after a crash, the same request has the same answer. Error: the request wants what is not given
/// (tools, images), or the model gave no answer.
Result<Json> sample(ToolContext& context, const std::string& server, const Json& request);

}  // namespace praxis
