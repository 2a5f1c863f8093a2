#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/open_runtime.hpp"
#include "app/plain_text.hpp"
#include "app/provider_status.hpp"
#include "app/run_agent.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/home_question.hpp"
#include "cli/live_traces.hpp"
#include "cli/place.hpp"
#include "cli/prompt.hpp"
#include "cli/server_commands.hpp"
#include "cli/span_of_caller.hpp"
#include "cli/turn.hpp"
#include "cli/turn_limits.hpp"
#include "praxis/planners/make_planner.hpp"
#include "praxis/tools/media.hpp"

namespace praxis::cli {
namespace {

std::map<std::string, std::string> flags_of(const RunOptions& options) {
  auto flags = flags_of(options.limits);
  if (!options.model.empty()) flags["model"] = options.model;
  return flags;
}

/// The interpreted arguments: an agent file (empty: the default agent) and an optional prompt.
struct Task {
  std::string agent_file;
  std::shared_ptr<const app::Project> project;  ///< the trusted project that the file belongs to; null: none
  std::optional<std::string> prompt;
};

Result<Task> task_of(const RunOptions& options, const app::Workspace& workspace) {
  if (!options.first) return Task{};
  auto agent = app::find_agent_file(workspace, *options.first);
  if (!agent) return fail(agent.error());
  if (*agent) return Task{(*agent)->file, (*agent)->project, options.second};
  const bool can_be_prompt = !options.second && !options.first->ends_with(".toml");
  if (!can_be_prompt) return fail(app::no_such_agent(workspace, *options.first));
  return Task{"", nullptr, options.first};
}

Result<Agent> agent_for(const Task& task, const RunOptions& options, const app::Workspace& workspace,
                        const Runtime& runtime, std::optional<TeamDescription>& team, Console& console) {
  return app::agent_for_run(
      {.file = task.agent_file,
       .project = task.project,
       .model = options.model,
       .route_order = options.route_order,
       .route_max_usd = options.route_max_usd,
       .accept_home = home_acceptance(options.allow_home, console),
       .warn = [&](const std::string& text) { console.err.line(visible_text("praxis: warning: " + text)); },
       .team = &team},
      workspace, runtime);
}

/// Names the models for which a bound on the cost cannot hold, because their prices are not known.
void warn_of_unknown_prices(const AgentSpec& agent, const app::Workspace& workspace, Console& console) {
  if (agent.limits.max_usd.value == 0) return;
  const auto catalog = app::open_catalog(workspace);
  if (!catalog) return;  // reported when the runtime was opened
  for (const std::string& model : app::models_without_price(agent.model, **catalog)) {
    console.err.line(visible_text(fmt::format(
        "praxis: warning: the price of {} is not known, so max_usd holds only if its server states "
        "the cost of each call; max_tokens holds in any case, and docs/providers.md says how to "
        "set prices",
        model)));
  }
}

/// The user message: the attachments, then the prompt.
Result<Message> message_of(const RunOptions& options, const std::string& prompt, Console& console) {
  auto text = read_message(prompt, console);
  if (!text) return fail(text.error());
  Message message;
  for (const std::string& place : options.attach) {
    auto part = attachment(place);
    if (!part) return fail(part.error());
    message.parts.push_back(*std::move(part));
  }
  std::ranges::move(text->parts, std::back_inserter(message.parts));
  return message;
}

/// Whether the options suit the agent. Error `kInput`.
Status check_fits(const RunOptions& options, bool has_prompt, const AgentSpec& agent, bool is_team) {
  const bool follows_plan = !agent.plan.is_null();
  if (!has_prompt && (is_team || needs_model(agent))) {
    return fail(app::usage_error("no prompt given",
                                 "praxis run [AGENT] \"PROMPT\", or - to read it from standard input"));
  }
  if (follows_plan && (!options.schema.empty() || !options.attach.empty())) {
    return fail(
        app::usage_error("the agent follows a written plan, which supports neither --schema nor --attach"));
  }
  if (is_team && !options.schema.empty())
    return fail(app::usage_error("the agent file describes a team, which does not support --schema"));
  return {};
}

/// Sends the further messages of `--then`, each after the turn before it has finished.
Result<ExitStatus> then_send(Result<ExitStatus> status, const RunOptions& options, Interrupts& interrupts,
                             Console& console,
                             const std::function<Result<ExitStatus>(const std::string&)>& send) {
  for (std::size_t sent = 0; status && sent < options.then.size(); ++sent) {
    if (*status != ExitStatus::kFinished) {
      console.err.line(
          fmt::format("{} of the messages of --then {} not sent, because the turn before did not finish",
                      options.then.size() - sent, options.then.size() - sent == 1 ? "was" : "were"));
      break;
    }
    if (options.limits.timeout) interrupts.limit(*options.limits.timeout);
    status = send(options.then[sent]);
  }
  return status;
}

/// Where a run takes place.
struct RunPlace {
  std::shared_ptr<Runtime> runtime;
  const app::Workspace& workspace;
  Interrupts& interrupts;
  Console& console;
};

Result<ExitStatus> run_team(Agent own, const TeamDescription& description, Message message,
                            const RunOptions& options, const RunPlace& place) {
  auto team = make_team(std::move(own), description, place.runtime);
  if (!team) return fail(team.error());
  const auto send = [&](Message said) {
    return follow_team(
        *team, [&](Team& asked) { return asked.stream(std::move(said)); }, *place.runtime, place.workspace,
        options.output, place.interrupts, place.console);
  };
  const auto first = send(std::move(message));
  return then_send(first, options, place.interrupts, place.console,
                   [&](const std::string& text) { return send(text_message(Role::kUser, text)); });
}

}  // namespace

Result<ExitStatus> execute(const RunOptions& options, Console& console) {
  if (!options.server.url.empty()) return run_at_server(options, console);
  Interrupts interrupts;
  auto workspace = open_place(options.place, console, flags_of(options));
  if (!workspace) return fail(workspace.error());
  workspace->waits.stop_waiting = interrupts.stop_token();
  auto task = task_of(options, *workspace);
  if (!task) return fail(task.error());
  if (auto writable = check_output(options.output); !writable) return fail(writable.error());
  auto schema = read_schema(options.schema);
  if (!schema) return fail(schema.error());
  Message message;
  if (task->prompt) {
    auto read = message_of(options, *task->prompt, console);
    if (!read) return fail(read.error());
    message = *std::move(read);
  }
  auto runtime = app::open_runtime(*workspace, runtime_use(options.output));
  if (!runtime) return fail(runtime.error());
  const auto traces = live_traces(*workspace, console);
  std::optional<TeamDescription> team;
  auto agent = agent_for(*task, options, *workspace, **runtime, team, console);
  if (!agent) return fail(agent.error());
  if (auto fits = check_fits(options, task->prompt.has_value(), agent->spec(), team.has_value()); !fits)
    return fail(fits.error());
  warn_of_unknown_prices(agent->spec(), *workspace, console);
  for (const Agent& member : team ? team->members : std::vector<Agent>{})
    warn_of_unknown_prices(member.spec(), *workspace, console);
  if (options.limits.timeout) interrupts.limit(*options.limits.timeout);
  if (team) {
    return run_team(*std::move(agent), *team, std::move(message), options,
                    {*std::move(runtime), *workspace, interrupts, console});
  }
  auto session = (*runtime)->create_session(*agent, nullptr, span_of_caller());
  if (!session) return fail(session.error());
  const StartTurn start = [&](Session& made) {
    return task->prompt ? made.send(std::move(message), *schema) : made.run();
  };
  const ExitStatus first =
      follow(*session, start, **runtime, *workspace, options.output, interrupts, console);
  return then_send(first, options, interrupts, console, [&](const std::string& text) -> Result<ExitStatus> {
    return follow(
        *session, [&](Session& made) { return made.send(text_message(Role::kUser, text), *schema); },
        **runtime, *workspace, options.output, interrupts, console);
  });
}

}  // namespace praxis::cli
