// `mcp`: shows and tries the MCP servers of an agent, and offers agents as an MCP server.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ranges>
#include <utility>
#include <vector>

#include "app/hidden_secrets.hpp"
#include "app/hints.hpp"
#include "app/line_changes.hpp"
#include "app/open_runtime.hpp"
#include "app/plain_text.hpp"
#include "app/pretty_json.hpp"
#include "app/slash_prompt.hpp"
#include "base/visible_text.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "cli/home_question.hpp"
#include "cli/interrupts.hpp"
#include "cli/mcp_file.hpp"
#include "cli/mcp_login.hpp"
#include "cli/place.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/runtime/mcp_tools.hpp"
#include "praxis/runtime/user_prompts.hpp"
#include "protocols/mcp_agents.hpp"

namespace praxis::cli {
namespace {

using McpVerb = McpCommandOptions::Verb;
constexpr std::size_t kMaxDescriptionColumns = 80;

/// The servers of an agent and those of its sub-agents.
Result<std::vector<McpServer>> servers_of(const McpCommandOptions& options, const app::Workspace& workspace,
                                          Console& console) {
  if (options.words.empty()) return fail(app::usage_error("the agent is missing", "praxis mcp --help"));
  const std::string& word = options.words.front();
  auto choice = app::find_agent_file(workspace, word);
  if (!choice) return fail(choice.error());
  if (!*choice) return fail(app::no_such_agent(workspace, word));
  std::vector<McpServer> servers;
  AgentFileOptions reading = app::agent_file_options(workspace, make_http_client());
  if ((*choice)->project) app::bind_to_project(reading, (*choice)->project);
  reading.on_mcp_server = [&](const McpServer& server) { servers.push_back(server); };
  reading.on_team = [](const TeamDescription&) {};  // the servers of members are listed too
  app::HomeReach home;
  home.watch(reading);
  auto agent = load_agent_file((*choice)->file, reading);
  if (!agent) return fail(agent.error());
  if (auto agreed = home.check(false, home_acceptance(options.allow_home, console)); !agreed)
    return fail(agreed.error());
  if (servers.empty())
    return fail(app::usage_error("the agent " + app::in_quotes(word) + " has no MCP server",
                                 "[tools.mcp.NAME] adds one"));
  return servers;
}

/// One use of the command on the servers of an agent.
class McpWork {
 public:
  McpWork(const McpCommandOptions& options, std::vector<McpServer> servers,
          std::shared_ptr<SecretBroker> secrets, std::stop_token stop, Console& console)
      : options_(options),
        servers_(std::move(servers)),
        secrets_(std::move(secrets)),
        stop_(std::move(stop)),
        console_(console) {}

  ExitStatus list() { return each_server(&McpWork::list_one); }
  ExitStatus test() { return each_server(&McpWork::test_one); }
  ExitStatus accept() { return each_server(&McpWork::accept_one); }

  Result<ExitStatus> call() {
    if (options_.words.size() < 2 || options_.words.size() > 3)
      return fail(app::usage_error("call takes an agent, a tool and its arguments", "praxis mcp --help"));
    const std::string& name = options_.words[1];
    for (const McpServer& server : servers_) {
      if (!name.starts_with(mcp_prefix(server.options.server))) continue;
      const auto list = server.client->tools(stop_);
      if (!list) return fail(list.error());
      auto offer = offer_mcp_tools(server, *list);
      if (!offer) return fail(offer.error());
      return call_of(std::move(offer->tools), name);
    }
    return fail(app::usage_error("no server of the agent has the tool " + app::in_quotes(name),
                                 "praxis mcp list shows the tools"));
  }

  /// Lists the prompts, or shows the text of one.
  Result<ExitStatus> prompts() {
    if (options_.words.size() > 1) return show_text();
    return each_server(&McpWork::list_prompts);
  }

 private:
  /// Does it for one server after the other, also when one of them fails, which is reported.
  ExitStatus each_server(Status (McpWork::*use)(const McpServer& server)) {
    ExitStatus status = ExitStatus::kFinished;
    for (const McpServer& server : servers_) {
      const Status done = (this->*use)(server);
      if (done) continue;
      report(server, done.error());
      status = ExitStatus::kFailed;
    }
    return status;
  }

  Status list_one(const McpServer& server) {
    const auto tools = server.client->tools(stop_);
    if (!tools) return fail(tools.error());
    const auto offer = offer_mcp_tools(server, *tools);
    if (!offer) return fail(offer.error());
    for (const Tool& tool : offer->tools)
      show_tool(tool.definition, std::ranges::count(offer->changed, tool.definition.name) > 0);
    for (const McpLeftOut& each : offer->left_out) show_left_out(server, each);
    for (const std::string& name : offer->changed)
      console_.err.line(
          fmt::format("{} changed since it was accepted: each call asks; praxis mcp accept {} {} shows the "
                      "change and accepts it",
                      app::in_quotes(name), options_.words.front(), name));
    return {};
  }

  Status test_one(const McpServer& server) {
    const auto begin = std::chrono::steady_clock::now();
    const auto info = server.client->info(stop_);
    if (!info) return fail(info.error());
    const auto tools = server.client->tools(stop_);
    if (!tools) return fail(tools.error());
    const auto took = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - begin);
    const auto offer = offer_mcp_tools(server, *tools);
    if (!offer) return fail(offer.error());
    if (options_.json) {
      console_.item("server", {{"name", server.options.server},
                               {"server", info->name},
                               {"version", info->version},
                               {"protocol", info->protocol},
                               {"tools", offer->tools.size()},
                               {"left_out", offer->left_out.size()},
                               {"duration_ms", took.count()}});
    } else {
      console_.out.line(fmt::format("{}: {} {}, protocol {}, {} tools ({} left out), {} ms",
                                    server.options.server, app::one_line(info->name, 60),
                                    app::one_line(info->version, 30), info->protocol, offer->tools.size(),
                                    offer->left_out.size(), took.count()));
    }
    return {};
  }

  Status list_prompts(const McpServer& server) {
    const auto prompts = prompts_of(server)->list(stop_);
    if (!prompts) return fail(prompts.error());
    for (const OfferedPrompt& prompt : *prompts) show_prompt(prompt);
    return {};
  }

  /// With the secrets hidden that the server was given.
  std::shared_ptr<PromptSource> prompts_of(const McpServer& server) const {
    return app::hiding_secrets(mcp_prompts(server), secrets_);
  }

  void show_prompt(const OfferedPrompt& prompt) {
    if (options_.json) {
      JsonArray arguments;
      for (const auto& each : prompt.arguments)
        arguments.push_back(
            JsonObject{{"name", each.name}, {"description", each.description}, {"required", each.required}});
      return console_.item(
          "mcp_prompt",
          {{"name", prompt.name}, {"description", prompt.description}, {"arguments", std::move(arguments)}});
    }
    const std::string usage = app::prompt_usage(prompt);
    const std::string name = app::one_line(prompt.name, 100) + (usage.empty() ? "" : ' ' + usage);
    console_.out.line(
        fmt::format("{:<32} {}", name, app::one_line(prompt.description, kMaxDescriptionColumns)));
  }

  Result<ExitStatus> show_text() {
    app::PromptSources sources;
    for (const McpServer& server : servers_) sources.push_back(prompts_of(server));
    const std::vector<std::string> words(options_.words.begin() + 2, options_.words.end());
    const auto text = app::prompt_text(options_.words[1], words, sources, stop_);
    if (!text) return fail(text.error());
    console_.result({{"text", *text}});
    if (!options_.json) console_.out.line(visible_text(*text));
    return ExitStatus::kFinished;
  }

  /// Accepts the tools that changed, or those of them that the command names, and shows the changes.
  Status accept_one(const McpServer& server) {
    const auto list = server.client->tools(stop_);
    if (!list) return fail(list.error());
    if (!server.options.acceptance) return {};
    const auto changed = server.options.acceptance->changed(list->tools);
    if (!changed) return fail(changed.error());
    std::vector<McpTool> accepted;
    for (const McpTool& tool : list->tools) {
      const auto before = changed->find(tool.name);
      if (before == changed->end() || !is_named(mcp_prefix(server.options.server) + tool.name)) continue;
      show_change(server, before->second, tool);
      accepted.push_back(tool);
    }
    return accepted.empty() ? Status{} : server.options.acceptance->accept(accepted);
  }

  bool is_named(const std::string& tool) const {
    return options_.words.size() == 1 || std::ranges::count(options_.words | std::views::drop(1), tool) > 0;
  }

  void show_change(const McpServer& server, const McpTool& before, const McpTool& now) {
    const auto text = [](const McpTool& tool) {
      return tool.description + '\n' + app::pretty_json(tool.parameters) + '\n';
    };
    const auto lines = app::changed_lines(text(before), text(now));
    if (options_.json)
      return console_.item("accepted", {{"server", server.options.server},
                                        {"name", now.name},
                                        {"changes", JsonArray(lines.begin(), lines.end())}});
    console_.out.line(
        fmt::format("accepted {}{}:", mcp_prefix(server.options.server), app::one_line(now.name, 100)));
    for (const std::string& line : lines) console_.out.line("  " + line);
  }

  Result<ExitStatus> call_of(std::vector<Tool> tools, const std::string& name) {
    ToolSet set;
    for (Tool& tool : tools) {
      if (auto added = set.add(app::hiding_secrets(std::move(tool), secrets_)); !added)
        return fail(added.error());
    }
    if (set.find(name) == nullptr) {
      return fail(app::usage_error("the server has no tool " + app::in_quotes(name),
                                   "praxis mcp list shows the tools"));
    }
    ToolContext context;
    context.stop = stop_;
    const auto output = set.execute(context, name, options_.words.size() == 3 ? options_.words[2] : "{}");
    if (!output) return fail(output.error());
    console_.result({{"text", output->text}, {"value", output->value}, {"images", output->images.size()}});
    if (options_.json) return ExitStatus::kFinished;
    console_.out.line(visible_text(output->text));
    if (!output->value.is_null()) console_.out.line(visible_text(app::pretty_json(output->value)));
    if (!output->images.empty()) console_.err.line(fmt::format("and {} images", output->images.size()));
    return ExitStatus::kFinished;
  }

  void report(const McpServer& server, Error error) {
    secrets_->redaction().redact(error);
    if (options_.json) console_.item("server", {{"name", server.options.server}, {"error", to_json(error)}});
    console_.err.line(
        visible_text("praxis: error: the MCP server \"" + server.options.server + "\": " + error.message));
  }

  void show_tool(const ToolDefinition& tool, bool changed) {
    const std::string description = secrets_->redaction().text(tool.description);
    if (options_.json) {
      JsonObject item = to_json(tool).get_object();
      item["description"] = description;
      item["idempotent"] = tool.idempotent;
      item["changed"] = changed;
      return console_.item("tool", item);
    }
    console_.out.line(
        fmt::format("{:<32} {}", tool.name, app::one_line(description, kMaxDescriptionColumns)));
  }

  void show_left_out(const McpServer& server, const McpLeftOut& each) {
    if (options_.json) {
      return console_.item("left_out",
                           {{"server", server.options.server}, {"name", each.name}, {"why", each.why}});
    }
    console_.err.line(fmt::format("left out: {} of {}: {}", app::in_quotes(each.name), server.options.server,
                                  app::one_line(each.why, 200)));
  }

  const McpCommandOptions& options_;
  const std::vector<McpServer> servers_;
  const std::shared_ptr<SecretBroker> secrets_;
  const std::stop_token stop_;
  Console& console_;
};

Result<ExitStatus> serve(const McpCommandOptions& options, const app::Workspace& workspace,
                         const std::stop_token& stop, Console& console) {
  app::RuntimeUse use;
  use.principal = cli_author();
  auto runtime = app::open_runtime(workspace, use);
  if (!runtime) return fail(runtime.error());
  const auto left_out = [&console](const std::string& name, const Error& why) {
    console.err.line(
        visible_text("praxis: the agent " + app::in_quotes(name) + " is left out: " + why.message));
  };
  auto serving = protocols::serve_agents(workspace, *runtime, options.words, left_out);
  if (!serving) return fail(serving.error());
  serving->offer.version = PRAXIS_VERSION;
  if (auto served = protocols::serve_mcp(*serving, STDIN_FILENO, STDOUT_FILENO, stop); !served)
    return fail(served.error());
  return ExitStatus::kFinished;
}

}  // namespace

Result<ExitStatus> execute(const McpCommandOptions& options, Console& console) {
  Interrupts interrupts;
  interrupts.on_first([] {});
  std::map<std::string, std::string> flags;
  if (!options.model.empty()) flags["model"] = options.model;
  auto workspace = open_place(options.place, console, std::move(flags));
  if (!workspace) return fail(workspace.error());
  if (options.verb == McpVerb::kAdd || options.verb == McpVerb::kRemove)
    return change_mcp_file(options, console);
  if (options.verb == McpVerb::kServe) return serve(options, *workspace, interrupts.stop_token(), console);
  auto servers = servers_of(options, *workspace, console);
  if (!servers) return fail(servers.error());
  if (options.verb == McpVerb::kLogin) return log_in_at(options, *servers, interrupts.stop_token(), console);
  if (options.verb == McpVerb::kLogout)
    return log_out_at(options, *servers, interrupts.stop_token(), console);
  McpWork work(options, *std::move(servers), workspace->secrets, interrupts.stop_token(), console);
  if (options.verb == McpVerb::kTest) return work.test();
  if (options.verb == McpVerb::kAccept) return work.accept();
  if (options.verb == McpVerb::kList) return work.list();
  auto done = options.verb == McpVerb::kPrompts ? work.prompts() : work.call();
  if (!done) workspace->secrets->redaction().redact(done.error());
  return done;
}

}  // namespace praxis::cli
