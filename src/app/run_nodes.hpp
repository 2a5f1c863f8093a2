// What the nodes of a tree say about its run, for those who have read the tree.
#pragma once

#include <vector>

#include "app/run_list.hpp"
#include "praxis/core/state.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::app {

/// The run as a list shows it, without its duration. The node of the run comes first.
ListedRun listed_run(SessionRow row, const std::vector<AgentNode>& nodes);
/// What a run and its sub-agents wait for, as `pending_steps` of `StoredSession`. The node of the run comes
/// first.
std::vector<ParkedStep> pending_steps(const State& state, const std::vector<AgentNode>& nodes);

}  // namespace praxis::app
