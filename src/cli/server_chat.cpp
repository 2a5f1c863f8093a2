// `chat --server`: a chat on a run of a server.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/doctor.hpp"
#include "app/hints.hpp"
#include "base/visible_text.hpp"
#include "cli/chat_setup.hpp"
#include "cli/interrupts.hpp"
#include "cli/place.hpp"
#include "cli/server_agents.hpp"
#include "cli/server_chat_run.hpp"
#include "cli/server_commands.hpp"
#include "cli/server_turn.hpp"
#include "praxis/base/dates.hpp"

namespace praxis::cli {
namespace {

using RunPtr = std::unique_ptr<tui::ChatRun>;

constexpr std::size_t kMostRunsListed = 2000;
constexpr std::chrono::milliseconds kDoctorPatience = std::chrono::seconds(20);

SessionRow row_from(const Json& json) {
  SessionRow row;
  row.id = SessionId(json_string(json, "id"));
  row.created = from_iso8601(json_text(json, "created_at")).value_or(UnixMillis());
  row.updated = from_iso8601(json_text(json, "updated_at")).value_or(UnixMillis());
  row.entries = static_cast<std::uint64_t>(json_int(json, "records"));
  row.agent = json_string(json, "agent");
  row.model = json_string(json, "model");
  row.status = json_string(json, "status");
  row.title = json_string(json, "title");
  row.name = json_string(json, "name");
  if (const JsonArray* tags = json_at(json, "tags").if_array()) {
    for (const Json& tag : *tags) row.tags.push_back(to_plain_text(tag));
  }
  return row;
}

Result<std::vector<app::Finding>> doctor_of(const ServerClient& client) {
  const auto answer = client.call("GET", "/api/v1/doctor");
  if (!answer) return fail(answer.error());
  std::vector<app::Finding> findings;
  const JsonArray* checks = json_at(*answer, "checks").if_array();
  for (const Json& check : checks == nullptr ? JsonArray() : *checks) {
    findings.push_back({json_string(check, "name"), app::health_from(json_string(check, "status")),
                        json_string(check, "detail")});
  }
  return findings;
}

/// The runs of a server.
class ServerChatPlace final : public tui::ChatPlace {
 public:
  ServerChatPlace(const ChatOptions& options, const ServerClient& client)
      : options_(options), client_(client), agent_(options.agent) {}

  /// The run that the command line names. Says at once what is wrong with the server, the token or a name.
  Result<RunPtr> first() {
    if (options_.resume.empty()) return begun(options_.agent, options_.model);
    const auto run = find(options_.resume);
    if (!run) return fail(run.error());
    return run_at_server_by_id(options_.server, *run, "");
  }

  Result<RunPtr> open(const tui::ChatOpening& opening) override {
    if (opening.id.empty()) {
      const bool is_other = !opening.agent.empty() && opening.agent != agent_;
      auto run = begun(is_other ? opening.agent : agent_,
                       opening.model.empty() && !is_other ? options_.model : opening.model);
      if (run && is_other) agent_ = opening.agent;
      return run;
    }
    if (!opening.model.empty())
      return fail(
          app::usage_error("a run at a server keeps its model", "/new MODEL begins one with another"));
    return run_at_server_by_id(options_.server, SessionId(opening.id), "");
  }

  Result<SessionId> find(const std::string& text) override {
    if (text == "last") {
      const auto newest = client_.call_surely("GET", "/api/v1/runs?limit=1");
      if (!newest) return fail(newest.error());
      const JsonArray* runs = json_at(*newest, "runs").if_array();
      if (runs == nullptr || runs->empty()) return fail(app::usage_error("the server has no runs yet"));
      return SessionId(json_string(runs->front(), "id"));
    }
    const auto shown = client_.call_surely("GET", "/api/v1/runs/" + path_segment(text));
    if (!shown) return fail(shown.error());
    return SessionId(json_string(*shown, "run_id"));
  }

  Result<SessionId> fork(const std::string& text) override {
    const auto made = client_.call("POST", "/api/v1/runs/" + path_segment(text) + "/fork", JsonObject{});
    if (!made) return fail(made.error());
    return SessionId(json_string(*made, "id"));
  }

  Result<std::vector<SessionRow>> runs() override {
    std::vector<SessionRow> rows;
    std::string next;
    do {
      const auto page = client_.call(
          "GET", "/api/v1/runs?limit=100" + (next.empty() ? "" : "&before=" + path_segment(next)));
      if (!page) return fail(page.error());
      const JsonArray* runs = json_at(*page, "runs").if_array();
      for (const Json& run : runs == nullptr ? JsonArray() : *runs) rows.push_back(row_from(run));
      next = json_string(*page, "next");
    } while (!next.empty() && rows.size() < kMostRunsListed);
    return rows;
  }

  Result<std::vector<tui::Choice>> models() override {
    return fail(app::usage_error("a run at a server keeps its model", "/new MODEL begins one with another"));
  }
  Result<std::vector<std::string>> agents() override { return agents_at_server(client_); }
  Examination doctor() override {
    return [brief = client_.within(kDoctorPatience)]() { return doctor_of(brief); };
  }

 private:
  Result<RunPtr> begun(const std::string& agent, const std::string& model) const {
    const auto known = agents_at_server(client_);
    if (!known) return fail(known.error());
    if (!agent.empty() && std::ranges::find(*known, agent) == known->end())
      return fail(no_such_agent_at_server(agent, *known));
    return new_run_at_server(options_.server, agent, model);
  }

  const ChatOptions& options_;
  const ServerClient& client_;
  std::string agent_;  ///< of new runs; empty: the default one
};

Status check_chat_at_server(const ChatOptions& options) {
  if (auto fits = check_no_place(options.place); !fits) return fits;
  if (!options.resume.empty() && !options.model.empty())
    return fail(app::usage_error("a run at a server keeps its model", "leave --model out"));
  return refuse_with_server({
      {!options.member.empty(), "--agent", "the agent file at the server says who answers"},
      {options.allow_home, "--allow-home", "the user of the server decides what its agents reach"},
  });
}

}  // namespace

Result<ExitStatus> chat_at_server(const ChatOptions& options, bool plain, Console& console) {
  if (auto fits = check_chat_at_server(options); !fits) return fail(fits.error());
  Interrupts interrupts;
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto client = ServerClient::open(options.server, interrupts.stop_token());
  if (!client) return fail(client.error());
  ServerChatPlace place(options, *client);
  auto run = place.first();
  if (!run) return fail(run.error());
  interrupts.on_first([] {});  // the chat sees the token
  tui::ChatSetup setup =
      chat_setup(options, *workspace, client->workspace(), place, make_executor(), plain, console.terminal);
  setup.stop = interrupts.stop_token();
  const auto last = tui::run_chat(setup, *std::move(run));
  if (!last) return fail(last.error());
  if (!last->empty()) {
    console.err.line(fmt::format("resume: praxis chat --resume {}{}", last->str(),
                                 app::place_options(client->workspace())));
  }
  if (const int signal = interrupts.received(); signal != 0) return static_cast<ExitStatus>(128 + signal);
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
