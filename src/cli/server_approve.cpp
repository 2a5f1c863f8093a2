// `approve --server`: lists the steps that await a human in the runs of a server, asks about them, or decides
// one.
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/pending_steps.hpp"
#include "app/read_program_json.hpp"
#include "cli/decisions.hpp"
#include "cli/server_commands.hpp"
#include "cli/server_turn.hpp"
#include "cli/step_dialog.hpp"

namespace praxis::cli {
namespace {

Status check_approve_at_server(const ApproveOptions& options) {
  if (auto fits = check_turn_at_server(options.place, options.output); !fits) return fits;
  return refuse_with_server({
      {options.always, "--always",
       "the user of the server saves rules: praxis approve there, without --server"},
      {!options.agent.empty(), "--agent", "the server has the agent files of its runs"},
      {!options.accept_agent.empty(), "--accept-agent", "the user of the server accepts changed files"},
      {options.allow_home, "--allow-home", "the user of the server decides what its agents reach"},
  });
}

/// What waits at the server.
Result<std::vector<app::PendingStep>> pending_at_server(const ServerClient& client) {
  const auto answer = client.call_surely("GET", "/api/v1/pending");
  if (!answer) return fail(answer.error());
  std::vector<app::PendingStep> all;
  const JsonArray* steps = json_at(*answer, "pending").if_array();
  if (steps == nullptr) return all;
  for (const Json& json : *steps) {
    app::PendingStep waiting{.node = {}, .step = app::parked_step_from(json)};
    waiting.node.id = waiting.step.session;
    waiting.node.agent = json_string(json, "agent");
    waiting.node.path = waiting.step.path;
    waiting.step.session = {};
    waiting.step.path = {};
    waiting.root = SessionId(json_string(json, "run"));
    all.push_back(std::move(waiting));
  }
  return all;
}

/// Where the events of a run stand: the id after which something new is.
Result<std::string> place_in(const ServerClient& client, const SessionId& run) {
  const auto shown = client.call_surely("GET", "/api/v1/runs/" + path_segment(run.str()));
  if (!shown) return fail(shown.error());
  return json_string(*shown, "last_event_id");
}

/// Asks about one step after the other, then follows the runs whose steps were decided.
Result<ExitStatus> walk_at_server(const std::vector<app::PendingStep>& all, const ApproveOptions& options,
                                  const ServerClient& client, Interrupts& interrupts, Console& console) {
  StepDialog dialog(console, nullptr);
  std::map<SessionId, std::string> decided;  // with the id of the last event before
  std::map<SessionId, bool> left;
  ExitStatus status = ExitStatus::kFinished;
  for (std::size_t i = 0; i < all.size() && interrupts.received() == 0; ++i) {
    const app::PendingStep& waiting = all[i];
    console.err.line(fmt::format("{} of {}: {}", i + 1, all.size(), waiting.step.id.str()));
    const auto place = place_in(client, waiting.root);
    if (!place) return fail(place.error());
    ParkedStep step = waiting.step;
    step.session = waiting.node.id;
    step.path = waiting.node.path;
    const auto approval = dialog.ask(step, client.stop());
    left[waiting.root] = left[waiting.root] || !approval;
    if (!approval) continue;
    if (auto sent = decide_at_server(client, waiting.step, waiting.node.id, *approval); !sent) {
      status = console.report(sent.error());
    } else {
      decided.try_emplace(waiting.root, *place);
    }
  }
  bool is_any_left = false;
  for (const auto& [run, is_left] : left) is_any_left = is_any_left || is_left;
  for (const auto& [run, after] : decided) {
    TurnOutput output = options.output;
    output.no_input = output.no_input || left[run];  // it was asked about just now
    const auto ended = follow_at_server(client, run.str(), after, output, interrupts, console);
    const ExitStatus one = ended ? *ended : console.report(ended.error(), interrupts.received());
    if (one != ExitStatus::kFinished) status = one;
  }
  return status == ExitStatus::kFinished && is_any_left ? ExitStatus::kParked : status;
}

/// The newest run that the token sees, if the step is named after it.
SessionId last_run_at_server(const ServerClient& client, const std::string& id) {
  if (id.find('/') == std::string::npos) return {};
  const auto runs = client.call("GET", "/api/v1/runs?limit=1");
  const JsonArray* list = runs ? json_at(*runs, "runs").if_array() : nullptr;
  return list == nullptr || list->empty() ? SessionId() : SessionId(json_string(list->front(), "id"));
}

}  // namespace

Result<ExitStatus> approve_at_server(const ApproveOptions& options, Console& console) {
  Interrupts interrupts;
  if (auto fits = check_approve_at_server(options); !fits) return fail(fits.error());
  const auto approval = approval_of(options);
  if (!approval) return fail(approval.error());
  const auto client = ServerClient::open(options.server, interrupts.stop_token());
  if (!client) return fail(client.error());
  const auto all = pending_at_server(*client);
  if (!all) return fail(all.error());
  const bool json = options.output.json;
  interrupts.on_first([] {});
  if (options.id.empty() && !all->empty() && can_walk(options, console))
    return walk_at_server(*all, options, *client, interrupts, console);
  if (options.id.empty()) {
    list_steps(*all, options, client->workspace(), app::Extent::kOverview, console);
    if (all->empty() && !json) console.err.line("no step awaits a human");
    return ExitStatus::kFinished;
  }
  const auto waiting = app::find_pending(*all, options.id, last_run_at_server(*client, options.id));
  if (!waiting) return fail(waiting.error());
  if (!*approval) {
    list_steps({*waiting}, options, client->workspace(), app::Extent::kWhole, console);
    return ExitStatus::kFinished;
  }
  const auto seen = has_seen(*waiting, options, client->workspace(), console);
  if (!seen) return fail(seen.error());
  if (!*seen) return ExitStatus::kParked;
  const auto place = place_in(*client, waiting->root);
  if (!place) return fail(place.error());
  if (auto decided = decide_at_server(*client, waiting->step, waiting->node.id, **approval); !decided)
    return fail(decided.error());
  console.err.line(fmt::format("{} is decided", waiting->step.id.str()));
  return follow_at_server(*client, waiting->root.str(), *place, options.output, interrupts, console);
}

}  // namespace praxis::cli
