// Shows agent trees on standard output, once or continuously, wherever they come from.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "cli/console.hpp"
#include "praxis/domain/command.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::cli {

/// Agent trees at one time.
struct TreeState {
  std::vector<AgentNode> nodes = {};     ///< as `RunTrees::nodes`
  std::vector<SessionId> busy = {};      ///< the roots that are not idle
  std::vector<SessionId> deserted = {};  ///< those of them with an open turn that no process has open
};

/// Draws trees, or writes a line of JSON for each agent. `workspace` is for printed commands.
void show_tree(const std::vector<AgentNode>& nodes, bool json, const app::Workspace& workspace,
               Console& console);
/// Shows changes until all runs are idle or their process has ended. A signal ends the process. Error: that
/// of `look`.
Result<ExitStatus> watch_tree(const std::function<Result<TreeState>()>& look, bool json,
                              const app::Workspace& workspace, Console& console);

/// The effect of a command, for the user.
std::string done_text(CommandVerb verb);

}  // namespace praxis::cli
