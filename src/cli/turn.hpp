// A turn as the command line follows it, whether `run` started it or `resume` carried it on.
#pragma once

#include "cli/console.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/workspace.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::cli {

/// The runtime that the command line's turns run in.
Result<std::shared_ptr<Runtime>> open_runtime(const Workspace& workspace, const TurnOutput& output);

/// Refuses an output file that cannot be written before a turn is paid for. Error `kInput`.
Status check_output(const TurnOutput& output);

/// The prompt, read from standard input when it is `-`. Error `kInput`.
Result<std::string> read_prompt(const std::string& prompt);

/// Notes the current folder in the agent's metadata: `resume` goes back there.
void remember_folder(Agent& agent);

/// Shows the turn until it has ended or waits for a person, and says how to carry on.
ExitStatus follow(Run run, const Workspace& workspace, const TurnOutput& output, Interrupts& interrupts,
                  Console& console);

/// The parked steps, each with the commands that decide it.
std::string pending_text(const Workspace& workspace, const AgentResult& result);

}  // namespace praxis::cli
