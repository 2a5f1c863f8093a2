// The agent of a recorded run as a replay uses it: servers of tools are not asked.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "evals/log_requests.hpp"
#include "praxis/runtime/agent.hpp"

namespace praxis::evals {

/// Whether the calls of a tool run, instead of being answered from the record.
using IsLive = std::function<bool(std::string_view tool)>;

/// Returns `agent` with the tools of its servers as the record has them before each of `requests`. A live
/// tool of a server is looked for at that server when it is called, so that no server starts without such a
/// call; the call waits for an approval if the server describes the tool otherwise than it was accepted.
Agent recorded_agent(const Agent& agent, const std::vector<LoggedRequest>& requests, const IsLive& is_live);

}  // namespace praxis::evals
