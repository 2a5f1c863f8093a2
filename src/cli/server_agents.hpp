// The agents of a server by name, for the commands that begin a run there.
#pragma once

#include <string>
#include <vector>

#include "cli/server_client.hpp"

namespace praxis::cli {

/// The names that the token may use. Errors: those of `ServerClient::call_surely`.
Result<std::vector<std::string>> agents_at_server(const ServerClient& client);

/// The error for a name that is not among them, with the nearest one.
Error no_such_agent_at_server(const std::string& name, const std::vector<std::string>& known);

}  // namespace praxis::cli
