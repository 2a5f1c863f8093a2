// Runs a turn for the command line, for `run` and `resume`.
#pragma once

#include <functional>

#include "app/open_runtime.hpp"
#include "app/reopen_run.hpp"
#include "app/workspace.hpp"
#include "cli/console.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::cli {

/// Fails if the output file cannot be written, before the turn costs money; `-` is standard output, which
/// gets the last message anyway. Error `kInput`, also for `-` with `--json`.
Status check_output(const TurnOutput& output);

/// The part of `output` that concerns the runtime.
app::RuntimeUse runtime_use(const TurnOutput& output);
/// `output` with absolute paths, so that the current folder may change.
TurnOutput with_absolute_paths(TurnOutput output);

/// What to show of a turn besides its answer.
Verbosity verbosity_of(const TurnOutput& output);

/// How a turn ended.
struct TurnEnd {
  AgentResult result;
  JsonObject fields;          ///< of the envelope
  bool can_continue = false;  ///< `resume` continues it, or begins that of a queued message
  bool blocked = false;       ///< a rule denied a call
  int signal = 0;             ///< that interrupted it, or 0
};
/// Keeps the members of the envelope, writes the output file and the ending with the command that resumes the
/// run. Returns the exit status.
ExitStatus tell(TurnEnd ended, const app::Workspace& workspace, const TurnOutput& output, Console& console);

/// Begins a turn of the session.
using StartTurn = std::function<Run(Session&)>;

/// Starts a turn and shows it until it ends or awaits a human, and prints how to resume it. After a turn that
/// finished, the turns of queued messages follow. On a terminal, the user answers the agents' questions
/// there. `start` is called once. Returns the status of the last turn.
ExitStatus follow(Session session, const StartTurn& start, Runtime& runtime, const app::Workspace& workspace,
                  const TurnOutput& output, Interrupts& interrupts, Console& console);

/// Begins a turn of a team's conversation.
using StartTeamTurn = std::function<Run(Team&)>;

/// The same for a team, whose members all answer until the last one has. Error: the conversation cannot be
/// created.
Result<ExitStatus> follow_team(Team& team, const StartTeamTurn& start, Runtime& runtime,
                               const app::Workspace& workspace, const TurnOutput& output,
                               Interrupts& interrupts, Console& console);
/// A turn of a run that was opened: `one` begins that of a session, `all` that of a team.
Result<ExitStatus> follow_run(app::OpenRun& run, const StartTurn& one, const StartTeamTurn& all,
                              const app::Workspace& workspace, const TurnOutput& output,
                              Interrupts& interrupts, Console& console);

}  // namespace praxis::cli
