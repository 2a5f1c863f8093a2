// Draws the agent tree as lines of text.
#pragma once

#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::tui {

/// One line of the drawing.
struct TreeLine {
  std::string text;       ///< safe to display, without colours
  SessionStatus status;   ///< of the node it belongs to
  bool is_node = false;   ///< the node's own line, not a detail below it
  bool is_typed = false;  ///< contains a command for copying, which must not be cut
  SessionId id = {};      ///< of the node it belongs to
};

/// One line per node, in the order of `RunTrees::nodes`: agent, id, status, duration, step, own tokens and
/// cost, those of the subtree, and its task. Below 120 columns ids are cut to their last 8 characters. Below
/// it: its comment, pending steps and waiting messages, each in at most `columns`.
std::vector<TreeLine> tree_lines(const std::vector<AgentNode>& nodes, const app::Workspace& workspace,
                                 UnixMillis now, std::size_t columns);

/// One line for a change log: path, id, status, step, tokens, cost, comment.
std::string change_text(const AgentNode& node);

}  // namespace praxis::tui
