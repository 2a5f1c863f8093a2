// The agent tree as lines of text.
#pragma once

#include <string>
#include <vector>

#include "cli/workspace.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::cli {

/// One line of the drawing.
struct TreeLine {
  std::string text;       ///< harmless, without colours
  SessionStatus status;   ///< of the node it belongs to
  bool is_node = false;   ///< of the node itself, not of what is said about it
  bool is_typed = false;  ///< holds a command to be typed, which must not be cut
};

/// Nodes as `Forest::nodes` gives them: one line each with agent, id, status, age, step, own tokens and cost,
/// those of the subtree, and what it is to do; below it the comment and what waits for a person.
std::vector<TreeLine> tree_lines(const std::vector<AgentNode>& nodes, const Workspace& workspace,
                                 UnixMillis now);

/// A node on one line, for a log of changes: path, id, status, step, tokens, cost, comment.
std::string change_text(const AgentNode& node);

}  // namespace praxis::cli
