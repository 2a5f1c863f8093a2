// Follows a turn of a run at a server as `turn.hpp` follows one of a journal: the same output, the same exit
// statuses. The run does not depend on it: it continues when this ends.
#pragma once

#include <initializer_list>
#include <string>

#include "cli/console.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/server_client.hpp"
#include "praxis/core/records.hpp"

namespace praxis::cli {

/// Shows what happens in a run after the event with the id `after` (empty: from the beginning), until the
/// turn ends or awaits a human. After a turn that finished, the turns of queued messages follow. On a
/// terminal, the user answers the agents' questions there. The first signal ends this, not the run. Errors:
/// those of `ServerEvents::next` and `ServerClient::call`.
Result<ExitStatus> follow_at_server(const ServerClient& client, const std::string& run, std::string after,
                                    const TurnOutput& output, Interrupts& interrupts, Console& console);

/// Sends the message of the next turn and follows it.
Result<ExitStatus> send_and_follow(const ServerClient& client, const std::string& run,
                                   const std::string& prompt, const TurnOutput& output,
                                   Interrupts& interrupts, Console& console);

/// What the envelope of a run has, of the run as the server shows it.
JsonObject fields_of_run(JsonObject run);

/// Decides a step that waits; its run continues. `session`: that of the step, if its id does not name it.
/// Error: the server refuses.
Status decide_at_server(const ServerClient& client, const ParkedStep& step, const SessionId& session,
                        const Approval& approval);

/// Error `kInput` if an option names a place on this machine, which has no meaning for the runs of a server;
/// says what to do.
Status check_no_place(const app::Place& place);
/// The same for all options of a command that follows a turn; also if its output cannot be written.
Status check_turn_at_server(const app::Place& place, const TurnOutput& output);

/// One option of the command line that only the process that works on a run can follow.
struct LocalOption {
  bool is_given = false;
  const char* name = "";
  const char* instead = "";  ///< what to do
};
/// Error `kInput` for the first that is given.
Status refuse_with_server(std::initializer_list<LocalOption> options);

}  // namespace praxis::cli
