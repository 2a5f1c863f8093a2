// The agent tree: its nodes, commands to them, and the steps that wait for people.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "app/envelope.hpp"
#include "app/run_trees.hpp"
#include "app/shown_run.hpp"
#include "praxis/base/utf8.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

/// The verbs that callers may send.
constexpr std::array kVerbs{CommandVerb::kSteer,   CommandVerb::kEnqueue,  CommandVerb::kInterrupt,
                            CommandVerb::kPause,   CommandVerb::kUnpause,  CommandVerb::kAnnotate,
                            CommandVerb::kModify,  CommandVerb::kWithdraw, CommandVerb::kMove,
                            CommandVerb::kCompact, CommandVerb::kDelete};

/// Records call it `resume`, which is another request here.
constexpr std::string_view kUnpause = "unpause";

std::string verb_names() {
  std::string names;
  for (const CommandVerb verb : kVerbs) {
    names.append(names.empty() ? "" : ", ")
        .append(verb == CommandVerb::kUnpause ? kUnpause : to_string(verb));
  }
  return names;
}

Result<Command> command_of(const Json& json, const SessionId& target, const Author& author) {
  if (!json.is_object()) return fail(field_error("commands", "must hold objects with verb and text"));
  const auto name = text_of(json.get_object(), "verb"), text = text_of(json.get_object(), "text");
  if (!name) return fail(name.error());
  if (!text) return fail(text.error());
  const auto verb = *name == kUnpause ? CommandVerb::kUnpause : command_verb_from(*name);
  if (!verb || std::ranges::find(kVerbs, *verb) == kVerbs.end())
    return fail(field_error("verb", "must be one of " + verb_names() + ", not \"" + *name + "\""));
  return Command{*verb, target, *text, author};
}

AgentNode shown_to_readers(Service& service, const AgentNode& node) {
  return app::shown_node(node, filters_of_shown(service, node.id), [&](const SessionId& id) {
    const auto state = service.folds->last(id);
    return state ? std::optional(**state) : std::nullopt;
  });
}

/// The tree of the run that the path names.
Result<std::vector<AgentNode>> tree_of(Service& service, const Call& call) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  return service.trees->of(*id);
}

/// Bytes of a task that are in the row of an agent.
constexpr std::size_t kMostInRow = 200;

/// What a list shows of an agent. A tree may have thousands of them, so what is empty, false or 0 is left
/// out.
JsonObject row_json(const AgentNode& node) {
  JsonObject row{{"id", node.id.str()},
                 {"depth", node.depth},
                 {"agent", node.agent},
                 {"status", to_string(node.status)},
                 {"content", utf8_head(node.content, kMostInRow)},
                 {"created", to_iso8601(node.created)},
                 {"updated", to_iso8601(node.updated)}};
  if (!node.parent.empty()) row["parent"] = node.parent.str();
  if (const auto total = node.usage.total(); total != 0) row["tokens"] = total;
  if (node.usage.cost.value != 0) row["cost_usd"] = node.usage.cost.usd();
  if (node.step != 0) row["step"] = node.step;
  if (node.paused) row["paused"] = true;
  if (!node.comment.empty()) row["comment"] = node.comment;
  JsonArray pending;
  for (const ParkedStep& step : node.pending) pending.push_back(app::program_json(step));
  if (!pending.empty()) row["pending"] = std::move(pending);
  return row;
}

}  // namespace

JsonObject pending_json(const AgentNode& node, const ParkedStep& step, const SessionId& run) {
  JsonObject json = app::program_json(step);
  json["run"] = run.str();
  json["session"] = node.id.str();
  json["agent"] = node.agent;
  json["path"] = node.path;
  return json;
}

Author author_of(const Principal& principal) {
  return Author{principal.name, Surface::kServer, principal.role};
}

Result<HttpAnswer> show_tree(Service& service, const Call& call) {
  const auto tree = tree_of(service, call);
  if (!tree) return fail(tree.error());
  JsonArray nodes;
  for (const AgentNode& node : *tree) nodes.push_back(app::program_json(shown_to_readers(service, node)));
  return json_answer(JsonObject{{"nodes", std::move(nodes)}});
}

Result<HttpAnswer> show_rows_of_tree(Service& service, const Call& call) {
  const auto tree = tree_of(service, call);
  if (!tree) return fail(tree.error());
  JsonArray rows;
  for (const AgentNode& node : *tree) rows.push_back(row_json(shown_to_readers(service, node)));
  return json_answer(JsonObject{{"rows", std::move(rows)}});
}

Result<HttpAnswer> show_trees(Service& service, const Call& call) {
  using Roots = app::RunTrees::Roots;
  app::RunTrees trees(service.journal, call.parameter("all") == "true" ? Roots::kAll : Roots::kLast);
  if (auto read = trees.refresh(); !read) return fail(read.error());
  JsonArray nodes;
  for (const AgentNode& node : trees.nodes()) {
    if (service.runs->may_see(call.principal, service.runs->lineages().root_of(node.id)))
      nodes.push_back(app::program_json(shown_to_readers(service, node)));
  }
  return json_answer(JsonObject{{"nodes", std::move(nodes)}});
}

Result<HttpAnswer> send_commands(Service& service, const Call& call) {
  const auto body = call.object({"commands"});
  if (!body) return fail(body.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const Json* list = body->if_contains("commands");
  if (list == nullptr || !list->is_array() || list->get_array().empty())
    return fail(field_error("commands", "must be a list of {\"verb\": ..., \"text\": ...}"));
  Commands commands;
  for (const Json& each : list->get_array()) {
    auto command = command_of(each, *id, author_of(call.principal));
    if (!command) return fail(command.error());
    commands.push_back(*std::move(command));
  }
  if (auto possible = service.runs->check_commands(commands); !possible) return fail(possible.error());
  if (auto done = service.runtime->command(std::move(commands)); !done) return fail(done.error());
  return json_answer(JsonObject{{"id", id->str()}}, 202);
}

Result<HttpAnswer> list_pending(Service& service, const Call& call) {
  app::RunTrees trees(service.journal, app::RunTrees::Roots::kBusy);
  if (auto read = trees.refresh(); !read) return fail(read.error());
  JsonArray steps;
  for (const AgentNode& node : trees.nodes()) {
    const SessionId run = node.pending.empty() ? SessionId() : service.runs->lineages().root_of(node.id);
    if (node.pending.empty() || !service.runs->may_see(call.principal, run)) continue;
    for (const ParkedStep& step : node.pending) steps.push_back(pending_json(node, step, run));
  }
  return json_answer(JsonObject{{"pending", std::move(steps)}});
}

}  // namespace praxis::server
