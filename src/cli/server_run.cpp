// `run --server`: starts a run at a server, with an agent that the server has, and follows it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "cli/prompt.hpp"
#include "cli/server_agents.hpp"
#include "cli/server_commands.hpp"
#include "cli/server_turn.hpp"
#include "praxis/base/environment.hpp"

namespace praxis::cli {
namespace {

Status check_run_at_server(const RunOptions& options) {
  if (auto fits = check_turn_at_server(options.place, options.output); !fits) return fits;
  return refuse_with_server({
      {!options.attach.empty(), "--attach",
       "give a text file on standard input: praxis run AGENT PROMPT < FILE"},
      {options.route_order.has_value(), "--route-order", "the agent file at the server sets the order"},
      {options.route_max_usd.has_value(), "--route-max-usd", "the agent file at the server sets it"},
      {options.allow_home, "--allow-home", "the user of the server decides what its agents reach"},
  });
}

/// The interpreted arguments: an agent of the server (empty: its default agent) and a prompt.
struct TaskAtServer {
  std::string agent;
  std::string prompt;
};

Result<TaskAtServer> task_at_server(const RunOptions& options, const std::vector<std::string>& known) {
  const bool is_agent = options.first && std::ranges::find(known, *options.first) != known.end();
  if (options.second && !is_agent) return fail(no_such_agent_at_server(*options.first, known));
  if (options.second) return TaskAtServer{*options.first, *options.second};
  if (!options.first || is_agent) {
    return fail(app::usage_error("no prompt given",
                                 "praxis run [AGENT] \"PROMPT\", or - to read it from standard input"));
  }
  if (options.first->ends_with(".toml")) return fail(no_such_agent_at_server(*options.first, known));
  return TaskAtServer{"", *options.first};
}

/// What the server is asked for.
Result<JsonObject> request_of_run(const RunOptions& options, const TaskAtServer& task, Console& console) {
  auto schema = read_schema(options.schema);
  if (!schema) return fail(schema.error());
  auto message = read_message(task.prompt, console);
  if (!message) return fail(message.error());
  JsonObject request{{"prompt", message->text()}};
  if (!task.agent.empty()) request["agent"] = task.agent;
  if (!options.model.empty()) request["model"] = options.model;
  if (!schema->is_null()) request["schema"] = *std::move(schema);
  JsonObject limits;
  if (options.limits.max_usd) limits["max_usd"] = options.limits.max_usd->usd();
  if (options.limits.max_steps) limits["max_steps"] = *options.limits.max_steps;
  if (options.limits.timeout) limits["timeout"] = options.limits.timeout->count();
  if (options.limits.patience) limits["patience"] = options.limits.patience->count();
  if (!limits.empty()) request["limits"] = std::move(limits);
  return request;
}

}  // namespace

Result<ExitStatus> run_at_server(const RunOptions& options, Console& console) {
  Interrupts interrupts;
  if (auto fits = check_run_at_server(options); !fits) return fail(fits.error());
  const auto client = ServerClient::open(options.server, interrupts.stop_token());
  if (!client) return fail(client.error());
  const auto known = agents_at_server(*client);
  if (!known) return fail(known.error());
  auto task = task_at_server(options, *known);
  if (!task) return fail(task.error());
  auto request = request_of_run(options, *task, console);
  if (!request) return fail(request.error());
  // Once the request is sent, the run may exist: the first signal waits for its id, so that it can be named.
  interrupts.on_first([] {});
  // With the key a request that arrives twice is one run.
  const HttpHeaders once{{"Idempotency-Key", "cli-" + system_environment()->new_id()}};
  const auto made = client->unstopped().call_surely("POST", "/api/v1/runs", *std::move(request), once);
  if (!made) return fail(made.error());
  const std::string run = json_string(*made, "id");
  auto status = follow_at_server(*client, run, "", options.output, interrupts, console);
  for (std::size_t sent = 0; status && sent < options.then.size(); ++sent) {
    if (*status != ExitStatus::kFinished) {
      console.err.line(
          fmt::format("{} of the messages of --then not sent, because the turn before did not finish",
                      options.then.size() - sent));
      break;
    }
    status = send_and_follow(*client, run, options.then[sent], options.output, interrupts, console);
  }
  return status;
}

}  // namespace praxis::cli
