// Runs as the tasks of an MCP server.
#pragma once

#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "mcp/served_tasks.hpp"
#include "praxis/domain/approval.hpp"

namespace praxis::app {

/// The run as a task: it works, waits for the steps `pending`, or has ended. A run that ended by an error is
/// completed with that error as its result.
ServedTask mcp_task_of(const StoredSession& stored, const std::vector<ParkedStep>& pending);

/// What a client says about a step.
struct McpDecision {
  std::string step;  ///< `SESSION/p1`
  Approval approval;
};
/// What a client says about the steps that wait in a run. Ignores what is about others, and what its user
/// left open.
std::vector<McpDecision> mcp_decisions(const SessionId& run, const std::vector<ParkedStep>& pending,
                                       const JsonObject& answers);

}  // namespace praxis::app
