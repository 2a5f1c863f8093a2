// The steps that wait for an approver: of a run, and of all runs of a journal.
#pragma once

#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::app {

/// A step that waits, with the agent that it belongs to.
struct PendingStep {
  AgentNode node;
  ParkedStep step;        ///< its id is qualified: `RUN/p1`
  std::string name = {};  ///< of the session, if a user has given it one
};

/// Returns every step that waits in runs that are not idle. Error `kJournal`.
Result<std::vector<PendingStep>> pending_in(const Workspace& workspace);
/// Returns the step that `typed` names: `RUN/p1`, with the run's name or a beginning or end of its id of at
/// least four characters, or `p1`. Error `kInput`: it names none or several.
Result<PendingStep> find_pending(const std::vector<PendingStep>& all, const std::string& typed);

/// Returns what a run and its sub-agents wait for; empty while the run has work to do before an approver
/// decides. Error `kJournal`.
Result<std::vector<ParkedStep>> pending_steps(const StoredSession& stored);

}  // namespace praxis::app
