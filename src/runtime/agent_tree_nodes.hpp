// How a session's state becomes a node of the tree, and nodes a tree.
#pragma once

#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis {

/// What the agent was last told to do, at most `kMaxNodeContent` bytes of it.
std::string content_of(const State& state);
/// Steps of `state` that wait for a person, with ids that are unique in the tree.
std::vector<ParkedStep> pending_of(const State& state);
/// `state.status()`, but `modified` for a running turn that a person changed, and `deleted` at once.
SessionStatus shown_status(const State& state);
/// The node of a session by itself: children, times and what is below are left empty.
AgentNode node_of(const State& state);

/// A node with the usage of those below it that are not listed.
struct LooseNode {
  AgentNode node;
  Usage unlisted = {};
};
/// Adds children and subtree totals; parents before children, roots and siblings by time of creation.
std::vector<AgentNode> arrange(std::vector<LooseNode> loose);

}  // namespace praxis
