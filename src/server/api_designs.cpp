// The paths of the fifth design (docs/vocabulary.md): a run as a stream of chunks, the tree, one agent,
// interventions.
#include <algorithm>
#include <utility>

#include "praxis/app/agent_update.hpp"
#include "server/early_subscription.hpp"
#include "server/event_sinks.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

/// A node as that design names its members.
JsonObject design_json(const AgentNode& node) {
  return JsonObject{{"id", node.id.str()},
                    {"parentId", node.parent.empty() ? Json(nullptr) : Json(node.parent.str())},
                    {"name", node.agent},
                    {"status", to_string(node.status)},
                    {"content", node.content},
                    {"userComment", node.comment},
                    {"metadata", node.metadata},
                    {"children", JsonArray{}}};
}

/// A session with its conversation; of one that is not open here, as the journal has it.
Result<AgentState> state_of(Service& service, const SessionId& id) {
  const auto open = service.runtime->agent_tree();
  if (std::ranges::find(open, id, &AgentNode::id) != open.end()) return service.runtime->agent_state(id);
  const auto nodes = service.trees->of(id);
  if (!nodes) return fail(nodes.error());
  const auto state = service.folds->last(id);
  if (!state) return fail(state.error());
  if (nodes->empty()) return fail(not_found("agent", id.str()));
  return AgentState{nodes->front(), (*state)->conversation.history()};
}

}  // namespace

Status design_stream(Service& service, const Call& call, const HttpReply& reply) {
  const std::string prompt = call.parameter("prompt");
  if (prompt.empty()) return fail(field_error("prompt", "is missing: /agent/stream?prompt=TEXT"));
  const auto early = std::make_shared<EarlySubscription>(service.feed);
  auto begin = [&service, call, reply, prompt, early](const Result<Created>& made) {
    if (!made) return call.answer(fail(made.error()));
    ++service.counters.runs_created;
    const EventChannel channel = EventChannel::begin(call, reply);
    channel.write(
        std::nullopt,
        JsonObject{{"type", "agent-state"},
                   {"agentId", made->id.str()},
                   {"state", JsonObject{{"status", "running"}, {"content", prompt}, {"userComment", ""}}}});
    early->give_to(std::make_shared<DesignSink>(channel, made->id));
  };
  NewRun run{.agent = call.parameter("agent"), .prompt = prompt};
  run.prepare = [early](const SessionId& id) { return early->begin({.session = id}); };
  service.runs->create(std::move(run), call.principal, std::move(begin));
  return {};
}

Result<HttpAnswer> design_tree(Service& service, const Call& call) {
  JsonArray nodes;
  for (const AgentNode& node : service.runtime->agent_tree()) {
    if (!service.runs->may_see(call.principal, service.runs->lineages().root_of(node.id))) continue;
    JsonObject json = design_json(node);
    for (const SessionId& child : node.children) json["children"].as_array().push_back(Json(child.str()));
    nodes.push_back(std::move(json));
  }
  return json_answer(std::move(nodes));
}

// That design answers 200 with an error member; so do we, because its clients look at the member.
Result<HttpAnswer> design_agent(Service& service, const Call& call) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  const auto state = id ? state_of(service, *id) : Result<AgentState>(fail(id.error()));
  if (!state) return json_answer(JsonObject{{"error", "Not found"}});
  JsonObject json = design_json(state->node);
  JsonArray messages;
  for (const MessagePtr& message : state->history.messages()) messages.push_back(to_json(*message));
  json["messages"] = std::move(messages);
  return json_answer(std::move(json));
}

Result<HttpAnswer> design_intervene(Service& service, const Call& call) {
  const auto body = call.object({"userComment", "userContent", "status"});
  if (!body) return fail(body.error());
  const auto update = agent_update_from_json(*body);
  if (!update) return fail(update.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return json_answer(JsonObject{{"success", false}});
  bool is_read = true;
  auto commands = commands_of(*id, *update, [&](const SessionId& agent) {
    auto state = state_of(service, agent);
    is_read = state.has_value();
    return state;
  });
  if (!is_read) return json_answer(JsonObject{{"success", false}});
  if (!commands) return fail(commands.error());
  for (Command& command : *commands) command.author = author_of(call.principal);
  const bool done = commands->empty() || (service.runs->check_commands(*commands).has_value() &&
                                          service.runtime->command(*std::move(commands)).has_value());
  return json_answer(JsonObject{{"success", done}});
}

}  // namespace praxis::server
