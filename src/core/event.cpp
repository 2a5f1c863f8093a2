#include "praxis/core/event.hpp"
#include "base/variant_impl.hpp"

namespace praxis {

template class Variant<AnyEvent>;
namespace {

struct Name {
  std::string_view operator()(const events::TurnStarted&) const { return "turn.started"; }
  std::string_view operator()(const events::MessageAdded&) const { return "message.added"; }
  std::string_view operator()(const events::StepStarted&) const { return "step.started"; }
  std::string_view operator()(const events::StepCompleted&) const { return "step.completed"; }
  std::string_view operator()(const events::TurnCompleted&) const { return "turn.completed"; }
  std::string_view operator()(const events::TurnFailed&) const { return "turn.failed"; }
  std::string_view operator()(const events::TurnTimedOut&) const { return "turn.timed_out"; }
  std::string_view operator()(const events::TurnCancelled&) const { return "turn.cancelled"; }
  std::string_view operator()(const events::ModelRequested&) const { return "model.requested"; }
  std::string_view operator()(const events::TextDelta&) const { return "text.delta"; }
  std::string_view operator()(const events::ReasoningDelta&) const { return "reasoning.delta"; }
  std::string_view operator()(const events::ToolCallDelta&) const { return "tool_call.delta"; }
  std::string_view operator()(const events::AssistantText&) const { return "assistant.text"; }
  std::string_view operator()(const events::AssistantReasoning&) const { return "assistant.reasoning"; }
  std::string_view operator()(const events::ModelResponded&) const { return "model.responded"; }
  std::string_view operator()(const events::ModelFailed&) const { return "model.failed"; }
  std::string_view operator()(const events::AttemptSuperseded&) const { return "attempt.superseded"; }
  std::string_view operator()(const events::ModelWaiting&) const { return "model.waiting"; }
  std::string_view operator()(const events::ToolCalled&) const { return "tool.called"; }
  std::string_view operator()(const events::ToolStarted&) const { return "tool.started"; }
  std::string_view operator()(const events::ToolProgress&) const { return "tool.progress"; }
  std::string_view operator()(const events::ToolCompleted&) const { return "tool.completed"; }
  std::string_view operator()(const events::ToolFailed&) const { return "tool.failed"; }
  std::string_view operator()(const events::ToolTimedOut&) const { return "tool.timed_out"; }
  std::string_view operator()(const events::ChildSpawned&) const { return "child.spawned"; }
  std::string_view operator()(const events::ChildSettled&) const { return "child.settled"; }
  std::string_view operator()(const events::StepParked&) const { return "step.parked"; }
  std::string_view operator()(const events::StepDecided&) const { return "step.decided"; }
  std::string_view operator()(const events::SessionPaused&) const { return "session.paused"; }
  std::string_view operator()(const events::SessionUnpaused&) const { return "session.unpaused"; }
  std::string_view operator()(const events::SessionRecovered&) const { return "session.recovered"; }
  std::string_view operator()(const events::SessionIntervened&) const { return "session.intervened"; }
  std::string_view operator()(const events::HistoryCut&) const { return "history.cut"; }
  std::string_view operator()(const events::PrefixBroken&) const { return "prefix.broken"; }
  std::string_view operator()(const events::AgentStatus&) const { return "agent.status"; }
  std::string_view operator()(const events::HookFailed&) const { return "hook.failed"; }
  std::string_view operator()(const events::Custom& e) const { return e.name; }
};

/// Adds an event's own fields to its JSON object.
struct Payload {
  JsonObject& out;

  void operator()(const events::TurnStarted& e) const {
    if (e.config) out["config"] = config(*e.config);
  }
  void operator()(const events::StepStarted&) const {}
  void operator()(const events::StepCompleted& e) const {
    if (e.message) out["message"] = e.message->id.str();
    out["duration_ms"] = e.duration.count();
  }
  void operator()(const events::AttemptSuperseded&) const {}
  void operator()(const events::SessionUnpaused&) const {}
  void operator()(const events::SessionRecovered&) const {}
  void operator()(const events::MessageAdded& e) const {
    out["source"] = to_string(e.source);
    out["message"] = to_json(*e.message);
  }
  void operator()(const events::TurnCompleted& e) const { out["result"] = to_json(e.result); }
  void operator()(const events::TurnFailed& e) const { out["result"] = to_json(e.result); }
  void operator()(const events::TurnTimedOut& e) const { out["result"] = to_json(e.result); }
  void operator()(const events::TurnCancelled& e) const { out["result"] = to_json(e.result); }
  void operator()(const events::ModelRequested& e) const {
    out["model"] = e.model;
    if (!e.purpose.empty()) out["purpose"] = e.purpose;
    if (const Json options = to_json(e.options); !options.get_object().empty()) out["options"] = options;
  }
  void operator()(const events::TextDelta& e) const {
    out["text"] = e.text;
    out["item"] = e.item;
  }
  void operator()(const events::ReasoningDelta& e) const {
    out["text"] = e.text;
    if (e.summary) out["summary"] = true;
    out["item"] = e.item;
  }
  void operator()(const events::ToolCallDelta& e) const {
    out["call"] = e.call.str();
    if (!e.name.empty()) out["name"] = e.name;
    out["arguments"] = e.arguments;
    out["item"] = e.item;
  }
  void operator()(const events::AssistantText& e) const { out["text"] = e.text; }
  void operator()(const events::AssistantReasoning& e) const { out["text"] = e.text; }
  void operator()(const events::ModelResponded& e) const {
    out["model"] = e.model;
    out["finish"] = to_string(e.finish);
    out["usage"] = to_json(e.usage);
    out["duration_ms"] = e.duration.count();
    if (!e.purpose.empty()) out["purpose"] = e.purpose;
    if (e.message) out["message"] = to_json(*e.message);
  }
  void operator()(const events::ModelFailed& e) const { out["error"] = to_json(e.error); }
  void operator()(const events::ModelWaiting& e) const {
    out["reason"] = to_string(e.reason);
    if (e.error) out["error"] = to_json(*e.error);
    if (e.attempts != 0) out["attempts"] = e.attempts;
    if (e.delay.count() != 0) out["delay_ms"] = e.delay.count();
    if (e.until.value != 0) out["until"] = to_iso8601(e.until);
    if (e.gives_up.value != 0) out["gives_up"] = to_iso8601(e.gives_up);
  }
  void operator()(const events::ToolCalled& e) const { call(e.call, e.name, e.arguments); }
  void operator()(const events::ToolStarted& e) const { call(e.call, e.name, e.arguments); }
  void operator()(const events::ToolProgress& e) const {
    call(e.call, e.name);
    out["text"] = e.text;
    if (e.fraction) out["fraction"] = *e.fraction;
  }
  void operator()(const events::ToolCompleted& e) const {
    call(e.call, e.name, e.arguments);
    out["text"] = e.text;
    if (!e.value.is_null()) out["value"] = e.value;
    out["duration_ms"] = e.duration.count();
  }
  void operator()(const events::ToolFailed& e) const {
    call(e.call, e.name, e.arguments);
    out["outcome"] = to_string(e.outcome);
    out["error"] = to_json(e.error);
    out["duration_ms"] = e.duration.count();
  }
  void operator()(const events::ToolTimedOut& e) const {
    call(e.call, e.name, e.arguments);
    out["limit_ms"] = e.limit.count();
    out["duration_ms"] = e.duration.count();
  }
  void operator()(const events::ChildSpawned& e) const {
    out["child"] = e.child.str();
    out["agent"] = e.name;
    out["call"] = e.call.str();
  }
  void operator()(const events::ChildSettled& e) const {
    out["child"] = e.child.str();
    out["reason"] = to_string(e.reason);
    out["usage"] = to_json(e.usage);
  }
  void operator()(const events::StepParked& e) const { out["parked"] = to_json(e.step); }
  void operator()(const events::StepDecided& e) const {
    if (!e.decision.park.empty()) out["park"] = e.decision.park.str();
    if (!e.decision.call.empty()) out["call"] = e.decision.call.str();
    out["verb"] = to_string(e.decision.verb);
    out["text"] = e.decision.text;
    author(e.decision.author);
  }
  void operator()(const events::SessionPaused& e) const { out["reason"] = e.reason; }
  void operator()(const events::SessionIntervened& e) const {
    out["kind"] = to_string(e.intervention.verb);
    out["text"] = e.intervention.text;
    if (e.intervention.author != Author{}) author(e.intervention.author);
  }
  void operator()(const events::HistoryCut& e) const {
    out["cause"] = e.cause;
    if (!e.summary.empty()) out["summary"] = e.summary;
  }
  void operator()(const events::PrefixBroken& e) const {
    out["cause"] = e.prefix.cause;
    out["tokens"] = e.prefix.tokens;
    out["cost_usd"] = e.prefix.cost.usd();
  }
  void operator()(const events::AgentStatus& e) const {
    out["status"] = to_string(e.status);
    out["paused"] = e.paused;
    out["content"] = e.content;
    out["comment"] = e.comment;
  }
  void operator()(const events::HookFailed& e) const {
    out["hook"] = e.hook;
    out["message"] = e.message;
  }
  void operator()(const events::Custom& e) const { out["payload"] = e.payload; }

  void author(const Author& author) const {
    out["by"] = author.principal;
    if (author.surface != Surface::kUnknown) out["surface"] = to_string(author.surface);
    if (!author.role.empty()) out["role"] = author.role;
  }
  void call(const CallId& id, const std::string& name) const {
    out["call"] = id.str();
    out["name"] = name;
  }
  void call(const CallId& id, const std::string& name, const std::string& arguments) const {
    call(id, name);
    out["arguments"] = arguments;
  }
  /// What an observer needs of a description; tools by name.
  static JsonObject config(const AgentSpec& agent) {
    JsonArray tools;
    for (const ToolSpec& tool : agent.tools) tools.emplace_back(tool.definition.name);
    return JsonObject{{"agent", agent.id},
                      {"model", agent.model},
                      {"options", to_json(agent.options)},
                      {"limits", to_json(agent.limits)},
                      {"tools", std::move(tools)}};
  }
};

}  // namespace

std::string_view events::to_string(WaitReason reason) {
  switch (reason) {
    case WaitReason::kRateLimit:
      return "rate_limit";
    case WaitReason::kBudget:
      return "budget";
    default:
      return "retry";
  }
}

std::string_view event_name(const EventBody& body) { return std::visit(Name{}, body); }

bool is_delta(const EventBody& body) {
  return std::holds_alternative<events::TextDelta>(body) ||
         std::holds_alternative<events::ReasoningDelta>(body) ||
         std::holds_alternative<events::ToolCallDelta>(body);
}

bool ends_turn(const EventBody& body) {
  return std::holds_alternative<events::TurnCompleted>(body) ||
         std::holds_alternative<events::TurnFailed>(body) ||
         std::holds_alternative<events::TurnTimedOut>(body) ||
         std::holds_alternative<events::TurnCancelled>(body);
}

Json to_json(const Event& event) {
  JsonObject out{
      {"event", event_name(event.body)}, {"session", event.agent.id.str()}, {"depth", event.agent.depth}};
  if (!event.agent.parent.empty()) out["parent"] = event.agent.parent.str();
  out["seq"] = event.seq;
  out["turn"] = event.turn.str();
  out["step"] = event.step;
  if (event.attempt != 1) out["attempt"] = event.attempt;
  out["time"] = to_iso8601(event.time);
  std::visit(Payload{out}, event.body);
  return out;
}

}  // namespace praxis
