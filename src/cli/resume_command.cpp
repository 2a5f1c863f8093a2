#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "app/envelope.hpp"
#include "app/hints.hpp"
#include "app/pending_steps.hpp"
#include "app/pending_text.hpp"
#include "app/reopen_run.hpp"
#include "app/team_run.hpp"
#include "app/values.hpp"
#include "app/without_secrets.hpp"
#include "app/workspace.hpp"
#include "cli/agent_changes.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "cli/decisions.hpp"
#include "cli/home_question.hpp"
#include "cli/live_traces.hpp"
#include "cli/place.hpp"
#include "cli/prompt.hpp"
#include "cli/run_picker.hpp"
#include "cli/server_commands.hpp"
#include "cli/turn.hpp"
#include "cli/turn_limits.hpp"
#include "logs/turn_schema.hpp"
#include "policy/event_texts.hpp"

namespace praxis::cli {
namespace {

/// Reports the state of a run that cannot be resumed now: its pending steps, if any.
Result<ExitStatus> tell_state(const app::StoredSession& stored, std::vector<ParkedStep> waiting,
                              const app::Workspace& workspace, Console& console) {
  AgentResult result = result_of(stored.state);
  redact_result(result, app::Redactions(workspace).filters_of_shown(*stored.state.agent));
  result.pending = std::move(waiting);
  if (result.pending.empty()) {
    return fail(app::usage_error(
        fmt::format("run {} has no turn to resume", stored.id.str()),
        fmt::format("{} \"PROMPT\" starts another", app::resume_command(workspace, stored.id))));
  }
  result.status = SessionStatus::kAwaitingUser;
  console.result(app::run_fields(result));
  console.err.write(app::pending_text(workspace, result, terminal_size(STDERR_FILENO).columns));
  return ExitStatus::kParked;
}

/// Returns the living process that has the run open, if any.
Result<std::optional<pid_t>> owner_of(const app::Workspace& workspace, const SessionId& run) {
  auto journal = app::open_journal(workspace, app::JournalUse::kWrite);
  if (!journal) return fail(journal.error());
  const auto lease = (*journal)->acquire(run, false);
  if (lease) (*journal)->release(*lease);
  const bool is_held = !lease && lease.error().kind() == ErrorKind::kLeaseHeld;
  const auto pid = is_held ? json_int(lease.error().detail(), "pid") : 0;
  return pid == 0 ? std::nullopt : std::optional(static_cast<pid_t>(pid));
}

/// What the process that lost the run may still do.
void warn_of(pid_t owner, Console& console) {
  console.err.line(
      fmt::format("process {0} still lives. It records nothing more, but may still carry out the calls that "
                  "it had begun, and "
                  "finish a request to a model. End it before you allow a call in doubt: kill {0}",
                  owner));
}

/// Decides what the open turn waits for and, once that turn has ended well, sends the prompt.
Result<ExitStatus> decide_then_send(app::OpenRun& open, const Approvals& approvals, Message message,
                                    Json schema, const app::Workspace& workspace, const TurnOutput& output,
                                    Interrupts& interrupts, Console& console) {
  const auto decided = follow_run(
      open, [&](Session& session) { return session.resume(approvals, cli_author()); },
      [&](Team& team) { return team.stream_resume(approvals, cli_author()); }, workspace, output, interrupts,
      console);
  if (decided && *decided == ExitStatus::kFinished)
    return follow_run(
        open, [&](Session& session) { return session.send(std::move(message), std::move(schema)); },
        [&](Team& team) { return team.stream(std::move(message)); }, workspace, output, interrupts, console);
  console.err.write("the prompt was not sent, because the open turn did not complete\n");
  return decided;
}

/// How the run is opened, with the limits and the model that are given now. The result refers to the
/// arguments.
app::ReopenOptions reopening(const ResumeOptions& options, const TurnOutput& output,
                             const app::Workspace& workspace, Console& console) {
  return {
      .use = runtime_use(output),
      .agent = options.agent,
      .model = options.model,
      .force = options.force,
      .change_limits =
          [&](const Limits& recorded) { return limits_given(recorded, options.limits, workspace.config); },
      .accept = agent_acceptance(options.accept_agent, console),
      .accept_home = home_acceptance(options.allow_home, console),
      .stays_here = !options.place.folder.empty()};
}

/// A run that another process holds can be taken from it.
Error with_way_out(const Error& error) {
  return error.kind() == ErrorKind::kLeaseHeld ? app::with_hint(error, "--force takes it over") : error;
}

/// A prompt needs a run without a turn in progress. Error `kInput` names the command that helps.
Status check_takes_prompt(const ResumeOptions& options, const app::StoredSession& stored,
                          const std::vector<ParkedStep>& waiting, bool decides,
                          const app::Workspace& workspace) {
  if (!options.prompt || decides || !stored.state.turn) return {};
  const std::string resume = app::resume_command(workspace, stored.id);
  if (waiting.empty()) {
    return fail(app::usage_error(fmt::format("run {} is in the middle of a turn", stored.id.str()),
                                 fmt::format("{} ends that turn, and then takes a prompt", resume)));
  }
  const std::string step = waiting.front().id.str();
  return fail(app::usage_error(
      fmt::format("run {} waits for a human before it takes a prompt", stored.id.str()),
      fmt::format("praxis approve shows what for; {} --allow {} \"PROMPT\" decides and sends", resume,
                  step)));
}

}  // namespace

Result<ExitStatus> execute(const ResumeOptions& options, Console& console) {
  if (!options.server.url.empty()) return resume_at_server(options, console);
  Interrupts interrupts;
  auto workspace = open_place(options.place, console, flags_of(options.limits));
  if (!workspace) return fail(workspace.error());
  workspace->waits.stop_waiting = interrupts.stop_token();
  if (auto writable = check_output(options.output); !writable) return fail(writable.error());
  auto approvals = approvals_of(options);
  if (!approvals) return fail(approvals.error());
  Message message;
  if (options.prompt) {
    auto read = read_message(*options.prompt, console);
    if (!read) return fail(read.error());
    message = *std::move(read);
    message.parts.insert(message.parts.begin(), options.with_prompt.begin(), options.with_prompt.end());
  }

  auto run = options.id.empty() ? pick_run(*workspace, console) : Result<std::string>(options.id);
  if (!run) return fail(run.error());
  auto stored = app::open_session(*workspace, *run, app::JournalUse::kLook);
  if (!stored) return fail(stored.error());
  auto waiting = app::pending_steps(*stored);
  if (!waiting) return fail(waiting.error());
  if (auto seen = check_approvals(*approvals, *waiting, *workspace); !seen) return fail(seen.error());
  const bool waits = !waiting->empty() && approvals->empty();
  const bool has_turn =
      stored->state.turn.has_value() || !stored->state.queue.empty() || app::team_goes_on(stored->state);
  const bool carries_on =
      !options.prompt && approvals->empty() && !has_turn && app::can_continue(stored->state);
  if (!options.prompt && !carries_on && (waits || !has_turn))
    return tell_state(*stored, *std::move(waiting), *workspace, console);

  workspace->waits.end_stopped_writer = options.force;
  const auto owner =
      options.force ? owner_of(*workspace, stored->id) : Result<std::optional<pid_t>>(std::nullopt);
  if (!owner) return fail(owner.error());
  if (*owner) warn_of(**owner, console);
  const TurnOutput output = with_absolute_paths(options.output);
  auto open = app::reopen_run(*stored, *workspace, reopening(options, output, *workspace, console));
  const auto traces = live_traces(*workspace, console);
  if (options.limits.timeout) interrupts.limit(*options.limits.timeout);
  if (!open) return fail(with_way_out(open.error()));
  if (auto takes = check_takes_prompt(options, *stored, *waiting, !approvals->empty(), *workspace); !takes)
    return fail(takes.error());
  if (options.prompt && !approvals->empty())
    return decide_then_send(*open, *approvals, std::move(message),
                            schema_of_next_turn(stored->records, NextTurn::kMessage), *workspace, output,
                            interrupts, console);
  const StartTurn start = [&](Session& session) {
    if (options.prompt)
      return session.send(std::move(message), schema_of_next_turn(stored->records, NextTurn::kMessage));
    return carries_on ? session.run() : session.resume(*approvals, cli_author());
  };
  const StartTeamTurn start_team = [&](Team& team) {
    return options.prompt ? team.stream(std::move(message)) : team.stream_resume(*approvals, cli_author());
  };
  const auto status = follow_run(*open, start, start_team, *workspace, output, interrupts, console);
  if (status && *status == ExitStatus::kParked && *owner && kill(**owner, 0) == 0) warn_of(**owner, console);
  return status;
}

}  // namespace praxis::cli
