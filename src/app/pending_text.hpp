// Describes pending steps, with the commands that decide them. A call that does not fit on an overview can be
// allowed only after all of it was shown.
#pragma once

#include <string>
#include <vector>

#include "app/call_text.hpp"
#include "app/workspace.hpp"
#include "praxis/core/report.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::app {

/// How much of a step is shown.
enum class Extent : bool {
  kOverview,  ///< at most 24 lines before the commands
  kWhole,
};

/// `praxis approve` with the id of a step that is unique in the journal, without the decision.
std::string approve_command(const Workspace& workspace, const ParkId& id);

/// The steps that a turn waits for, its own and those of its sub-agents, with the `praxis resume` command
/// that decides each.
std::string pending_text(const Workspace& workspace, const AgentResult& result, std::size_t columns);

/// One step of a node as `praxis approve` shows it: what would run, or the question. `changes`: what it would
/// change in a file (`ChangePreview`).
std::string waiting_text(const Workspace& workspace, const AgentNode& node, const ParkedStep& step,
                         UnixMillis now, std::size_t columns, Extent extent,
                         const std::vector<std::string>& changes = {});

/// Why a step waits and what would run, or the question, each line with a prefix; without commands.
CallView step_view(const ParkedStep& step, std::size_t columns, Extent extent);

/// The command of the most likely decision, and the other ones in brackets. `cut`: the user saw a part only.
std::string deciding_text(const Workspace& workspace, const ParkedStep& step, bool cut);

/// Whether an overview of that width leaves out a part of the call.
bool is_long(const ParkedStep& step, std::size_t columns);
/// What `--seen` has to be for a long call: the start of the digest of the call.
std::string seen_mark(const ParkedStep& step);
/// Whether `seen` is a start of that digest, long enough to be no accident.
bool is_seen(const ParkedStep& step, std::string_view seen);
/// Checks a decision that was made without `--seen`. Error `kInput`: it allows a long call.
Status check_seen(const Workspace& workspace, const ParkedStep& step, ApprovalVerb verb, std::size_t columns);

}  // namespace praxis::app
