// Calls that may or may not have run, of runs whose process has ended and that no other has resumed: nothing
// waits for an approver yet, because the next `resume` parks them.
#pragma once

#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::app {

/// A call that was intended and has no outcome, and whose tool is not repeatable.
struct CallInDoubt {
  AgentNode node;  ///< the session of the call
  SessionId root;  ///< the run to resume
  std::string tool, arguments;
};

/// Returns the calls that the next `resume` will put before an approver, in the order of the tree. Calls of
/// agents with `in_doubt = "tell"` are not among them. Error `kJournal`.
Result<std::vector<CallInDoubt>> calls_in_doubt(const Workspace& workspace);

/// An overview of the call, and how to resume its run.
std::string doubt_text(const Workspace& workspace, const CallInDoubt& call, std::size_t columns);
/// The same for programs: `id` is null until the run is resumed, `resume` names the run.
JsonObject doubt_json(const CallInDoubt& call);

}  // namespace praxis::app
