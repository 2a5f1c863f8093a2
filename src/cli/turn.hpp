// A turn as the command line follows it, whether `run` started it or `resume` carried it on.
#pragma once

#include "cli/console.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/workspace.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::cli {

/// The runtime that the command line's turns run in.
Result<std::shared_ptr<Runtime>> open_runtime(const Workspace& workspace, const TurnOutput& output);

/// What agent files are read with: the configured model, the network, and what this person allows always.
AgentFileOptions agent_file_options(const Workspace& workspace, const Runtime& runtime);

/// Refuses an output file that cannot be written before a turn is paid for. Error `kInput`.
Status check_output(const TurnOutput& output);

/// The prompt, read from standard input when it is `-`. Error `kInput`.
Result<std::string> read_prompt(const std::string& prompt);

/// Notes the current folder in the agent's metadata: `resume` goes back there.
void remember_folder(Agent& agent);

/// Shows the turn until it has ended or waits for a person, and says how to carry on. On a terminal,
/// questions of the agents are answered there.
ExitStatus follow(Run run, Runtime& runtime, const Workspace& workspace, const TurnOutput& output,
                  Interrupts& interrupts, Console& console);

}  // namespace praxis::cli
