// Runs a turn for the command line, for `run` and `resume`.
#pragma once

#include "cli/console.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/workspace.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::cli {

/// The runtime for the command line's turns.
Result<std::shared_ptr<Runtime>> open_runtime(const Workspace& workspace, const TurnOutput& output);

/// Options for reading agent files: the configured model, the network, and the user's remembered rules.
AgentFileOptions agent_file_options(const Workspace& workspace, const Runtime& runtime);

/// Fails if the output file cannot be written, before the turn costs money. Error `kInput`.
Status check_output(const TurnOutput& output);

/// The prompt, read from standard input if it is `-`. Error `kInput`.
Result<std::string> read_prompt(const std::string& prompt);

/// Records the current folder in the agent's metadata, for `resume` to return to.
void remember_folder(Agent& agent);

/// Shows the turn until it ends or awaits a human, and prints how to resume it. On a terminal, the user
/// answers the agents' questions there.
ExitStatus follow(Run run, Runtime& runtime, const Workspace& workspace, const TurnOutput& output,
                  Interrupts& interrupts, Console& console);

}  // namespace praxis::cli
