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
  SessionId root = {};    ///< the run that the session belongs to
};

/// Returns every step that waits in runs that are not idle. Error `kJournal`.
Result<std::vector<PendingStep>> pending_in(const Workspace& workspace);
/// Returns the step that `typed` names: `RUN/p1`, with the run's name or a beginning or end of its id of at
/// least four characters in any case, `last/p1`, or `p1`. `last` is the newest run, or empty: steps of its
/// sub-agents count if it has no such step itself. Error `kInput`: it names none or several.
Result<PendingStep> find_pending(const std::vector<PendingStep>& all, const std::string& typed,
                                 const SessionId& last = {});
/// Returns the newest run of the journal; empty if it has no run.
SessionId last_run(const Workspace& workspace);

/// Returns what a run and its sub-agents wait for; empty while the run has work to do before an approver
/// decides. Error `kJournal`.
Result<std::vector<ParkedStep>> pending_steps(const StoredSession& stored);

}  // namespace praxis::app
