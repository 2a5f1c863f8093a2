// Describes pending steps, with the commands that decide them.
#pragma once

#include <string>

#include "app/workspace.hpp"
#include "praxis/core/report.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::app {

/// `praxis approve` with the id of a step that is unique in the journal, without the decision.
std::string approve_command(const Workspace& workspace, const ParkId& id);

/// The steps that a turn waits for, its own and those of its sub-agents, with the `praxis resume` command
/// that decides each.
std::string pending_text(const Workspace& workspace, const AgentResult& result);

/// One step of a node as `praxis approve` shows it: exactly what would run, at most `most` bytes of it (0:
/// all).
std::string waiting_text(const Workspace& workspace, const AgentNode& node, const ParkedStep& step,
                         UnixMillis now, std::size_t most);

/// The decision that is most likely, as a command, and the other ones in brackets.
std::string deciding_text(const Workspace& workspace, const ParkedStep& step);

}  // namespace praxis::app
