// Turns the states of sessions into nodes, and nodes into a tree.
#pragma once

#include <optional>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis {

/// The task of the turn in progress, or else the last user message: at most its first `kMaxNodeContent`
/// bytes.
std::string content_of(const State& state);
/// Returns the parked steps of `state`, with ids that are unique in the tree.
std::vector<ParkedStep> pending_of(const State& state);
/// Returns what the turn in progress waits for; nothing if it works or no turn is in progress.
std::optional<NodeWait> wait_of(const State& state);
/// Returns `state.status()`, except `modified` for a running turn whose task was changed by a command, and
/// `deleted` as soon as the command is recorded.
SessionStatus shown_status(const State& state);
/// Returns the node of one session. Children, times and subtree totals stay empty.
AgentNode node_of(const State& state);

/// A node, and the usage of its sub-agents that are not listed.
struct LooseNode {
  AgentNode node;
  Usage unlisted = {};
};
/// Adds children and subtree totals. Parents come before children; roots and siblings are sorted by creation
/// time.
std::vector<AgentNode> arrange(std::vector<LooseNode> loose);

}  // namespace praxis
