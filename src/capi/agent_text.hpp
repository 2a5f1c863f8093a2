// The description of an agent in JSON, with the keys of an agent file.
#pragma once

#include <string>

#include "praxis/app/agent_file.hpp"
#include "praxis/json/json.hpp"

namespace praxis::capi {

/// The same as a TOML file, one member of `object` a line; members that are null are left out.
std::string toml_of(const JsonObject& object);
/// Makes the agent. Errors as `parse_agent_file`, without a place in the file.
Result<Agent> agent_from_json(const Json& description, const AgentFileOptions& options);

}  // namespace praxis::capi
