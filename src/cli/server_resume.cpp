// `resume --server`: follows, continues or extends a run at a server.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "app/hints.hpp"
#include "app/pending_text.hpp"
#include "app/read_program_json.hpp"
#include "app/workspace.hpp"
#include "cli/decisions.hpp"
#include "cli/prompt.hpp"
#include "cli/server_commands.hpp"
#include "cli/server_turn.hpp"

namespace praxis::cli {
namespace {

Status check_resume_at_server(const ResumeOptions& options) {
  if (auto fits = check_turn_at_server(options.place, options.output); !fits) return fits;
  const TurnLimits& limits = options.limits;
  return refuse_with_server({
      {!options.agent.empty(), "--agent", "the server has the agent files of its runs"},
      {!options.accept_agent.empty(), "--accept-agent", "the user of the server accepts changed files"},
      {options.allow_home, "--allow-home", "the user of the server decides what its agents reach"},
      {!options.model.empty(), "--model", "a run at a server keeps its model"},
      {limits.max_usd.has_value(), "--max-usd", "a run at a server keeps its limits"},
      {limits.max_steps.has_value(), "--max-steps", "a run at a server keeps its limits"},
      {limits.timeout.has_value(), "--timeout", "a run at a server keeps its limits"},
      {limits.patience.has_value(), "--patience", "a run at a server keeps its limits"},
      {options.force, "--force", "the server continues the runs of processes that have ended"},
  });
}

/// Reports the state of a run that has no turn to resume, or one that waits.
Result<ExitStatus> tell_state_at_server(const AgentResult& result, JsonObject fields,
                                        const ServerClient& client, Console& console) {
  if (result.pending.empty()) {
    return fail(app::usage_error(fmt::format("run {} has no turn to resume", result.session.str()),
                                 fmt::format("{} \"PROMPT\" starts another",
                                             app::resume_command(client.workspace(), result.session))));
  }
  console.result(fields_of_run(std::move(fields)));
  console.err.write(app::pending_text(client.workspace(), result, terminal_size(STDERR_FILENO).columns));
  return ExitStatus::kParked;
}

/// A prompt needs a run without a turn in progress. Error `kInput` names the command that helps.
Status check_takes_prompt_at_server(const AgentResult& result, bool is_open, const ServerClient& client) {
  if (!is_open) return {};
  const std::string resume = app::resume_command(client.workspace(), result.session);
  if (result.pending.empty()) {
    return fail(app::usage_error(fmt::format("run {} is in the middle of a turn", result.session.str()),
                                 resume + " follows it"));
  }
  return fail(app::usage_error(
      fmt::format("run {} waits for a human before it takes a prompt", result.session.str()),
      fmt::format("{} --allow {} \"PROMPT\" decides and sends", resume, result.pending.front().id.str())));
}

}  // namespace

Result<ExitStatus> resume_at_server(const ResumeOptions& options, Console& console) {
  Interrupts interrupts;
  if (auto fits = check_resume_at_server(options); !fits) return fail(fits.error());
  const auto client = ServerClient::open(options.server, interrupts.stop_token());
  if (!client) return fail(client.error());
  const auto approvals = approvals_of(options);
  if (!approvals) return fail(approvals.error());
  std::optional<Message> message;
  if (options.prompt) {
    auto read = read_message(*options.prompt, console);
    if (!read) return fail(read.error());
    message = *std::move(read);
  }
  auto shown = client->call_surely("GET", "/api/v1/runs/" + path_segment(options.id) + "?whole=true");
  if (!shown) return fail(shown.error());
  const AgentResult result = app::result_from(*shown);
  const std::string run = result.session.str(), path = "/api/v1/runs/" + path_segment(run);
  const std::string after = json_string(*shown, "last_event_id");
  const bool is_open = json_bool(*shown, "resumable");
  const bool decides = !approvals->empty();
  if (auto seen = check_approvals(*approvals, result.pending, client->workspace()); !seen)
    return fail(seen.error());
  if (options.prompt && !decides) {
    if (auto takes = check_takes_prompt_at_server(result, is_open, *client); !takes)
      return fail(takes.error());
    return send_and_follow(*client, run, message->text(), options.output, interrupts, console);
  }
  if (!decides && (!is_open || !result.pending.empty()))
    return tell_state_at_server(result, shown->get_object(), *client, console);
  // From here on requests let the run continue: the first signal waits for their answers.
  interrupts.on_first([] {});
  const ServerClient sender = client->unstopped();
  for (const auto& [id, approval] : *approvals) {
    ParkedStep step;
    step.id = id;
    if (auto decided = decide_at_server(sender, step, result.session, approval); !decided)
      return fail(decided.error());
  }
  if (!decides && !json_bool(*shown, "held")) {
    if (auto resumed = sender.call("POST", path + "/resume"); !resumed) return fail(resumed.error());
  }
  const auto status = follow_at_server(*client, run, after, options.output, interrupts, console);
  if (!status || !options.prompt) return status;
  if (*status != ExitStatus::kFinished) {
    console.err.write("the prompt was not sent, because the open turn did not complete\n");
    return status;
  }
  return send_and_follow(*client, run, message->text(), options.output, interrupts, console);
}

}  // namespace praxis::cli
