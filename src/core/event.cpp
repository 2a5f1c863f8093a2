#include "praxis/core/event.hpp"

namespace praxis {
namespace {

struct Name {
  std::string_view operator()(const TurnBegan&) const { return "turn.started"; }
  std::string_view operator()(const MessageAdded&) const { return "message.added"; }
  std::string_view operator()(const StepBegan&) const { return "step.started"; }
  std::string_view operator()(const StepCompleted&) const { return "step.completed"; }
  std::string_view operator()(const TurnCompleted&) const { return "turn.completed"; }
  std::string_view operator()(const TurnFailed&) const { return "turn.failed"; }
  std::string_view operator()(const TurnCancelled&) const { return "turn.cancelled"; }
  std::string_view operator()(const ModelRequested&) const { return "model.requested"; }
  std::string_view operator()(const TextDelta&) const { return "text.delta"; }
  std::string_view operator()(const ReasoningDelta&) const { return "reasoning.delta"; }
  std::string_view operator()(const ToolCallDelta&) const { return "tool_call.delta"; }
  std::string_view operator()(const AssistantText&) const { return "assistant.text"; }
  std::string_view operator()(const AssistantReasoning&) const { return "assistant.reasoning"; }
  std::string_view operator()(const ModelResponded&) const { return "model.responded"; }
  std::string_view operator()(const ModelFailed&) const { return "model.failed"; }
  std::string_view operator()(const AttemptSuperseded&) const { return "attempt.superseded"; }
  std::string_view operator()(const ToolCalled&) const { return "tool.called"; }
  std::string_view operator()(const ToolCallStarted&) const { return "tool.started"; }
  std::string_view operator()(const ToolCompleted&) const { return "tool.completed"; }
  std::string_view operator()(const ToolFailed&) const { return "tool.failed"; }
  std::string_view operator()(const ToolTimedOut&) const { return "tool.timed_out"; }
  std::string_view operator()(const ChildBegan&) const { return "child.spawned"; }
  std::string_view operator()(const ChildEnded&) const { return "child.settled"; }
  std::string_view operator()(const StepParked&) const { return "step.parked"; }
  std::string_view operator()(const StepDecided&) const { return "step.decided"; }
  std::string_view operator()(const SessionPaused&) const { return "session.paused"; }
  std::string_view operator()(const SessionUnpaused&) const { return "session.unpaused"; }
  std::string_view operator()(const SessionRecovered&) const { return "session.recovered"; }
  std::string_view operator()(const SessionIntervened&) const { return "session.intervened"; }
  std::string_view operator()(const HistoryCut&) const { return "history.cut"; }
  std::string_view operator()(const PrefixBroken&) const { return "prefix.broken"; }
  std::string_view operator()(const HookFailed&) const { return "hook.failed"; }
  std::string_view operator()(const CustomEvent& e) const { return e.name; }
};

/// Adds an event's own fields to its JSON object.
struct Payload {
  JsonObject& out;

  void operator()(const TurnBegan&) const {}
  void operator()(const StepBegan&) const {}
  void operator()(const StepCompleted&) const {}
  void operator()(const AttemptSuperseded&) const {}
  void operator()(const SessionUnpaused&) const {}
  void operator()(const SessionRecovered&) const {}
  void operator()(const MessageAdded& e) const {
    out["source"] = to_string(e.source);
    out["message"] = to_json(*e.message);
  }
  void operator()(const TurnCompleted& e) const { out["result"] = to_json(e.result); }
  void operator()(const TurnFailed& e) const { out["result"] = to_json(e.result); }
  void operator()(const TurnCancelled& e) const { out["result"] = to_json(e.result); }
  void operator()(const ModelRequested& e) const {
    out["model"] = e.model;
    if (!e.purpose.empty()) out["purpose"] = e.purpose;
  }
  void operator()(const TextDelta& e) const { out["text"] = e.text; }
  void operator()(const ReasoningDelta& e) const {
    out["text"] = e.text;
    if (e.summary) out["summary"] = true;
  }
  void operator()(const ToolCallDelta& e) const {
    if (!e.name.empty()) out["name"] = e.name;
    out["arguments"] = e.arguments;
  }
  void operator()(const AssistantText& e) const { out["text"] = e.text; }
  void operator()(const AssistantReasoning& e) const { out["text"] = e.text; }
  void operator()(const ModelResponded& e) const {
    out["model"] = e.model;
    out["finish"] = to_string(e.finish);
    out["usage"] = to_json(e.usage);
    if (!e.purpose.empty()) out["purpose"] = e.purpose;
  }
  void operator()(const ModelFailed& e) const { out["error"] = to_json(e.error); }
  void operator()(const ToolCalled& e) const {
    call(e.call, e.name);
    out["arguments"] = e.arguments;
  }
  void operator()(const ToolCallStarted& e) const { call(e.call, e.name); }
  void operator()(const ToolCompleted& e) const {
    call(e.call, e.name);
    out["text"] = e.text;
    out["duration_ms"] = e.duration.count();
  }
  void operator()(const ToolFailed& e) const {
    call(e.call, e.name);
    out["outcome"] = to_string(e.outcome);
    out["error"] = to_json(e.error);
    out["duration_ms"] = e.duration.count();
  }
  void operator()(const ToolTimedOut& e) const {
    call(e.call, e.name);
    out["duration_ms"] = e.duration.count();
  }
  void operator()(const ChildBegan& e) const {
    out["child"] = e.child.str();
    out["agent"] = e.name;
    out["call"] = e.call.str();
  }
  void operator()(const ChildEnded& e) const {
    out["child"] = e.child.str();
    out["reason"] = to_string(e.reason);
    out["usage"] = to_json(e.usage);
  }
  void operator()(const StepParked& e) const { out["parked"] = to_json(e.step); }
  void operator()(const StepDecided& e) const {
    if (!e.decision.park.empty()) out["park"] = e.decision.park.str();
    if (!e.decision.call.empty()) out["call"] = e.decision.call.str();
    out["verb"] = to_string(e.decision.verb);
    out["text"] = e.decision.text;
    out["by"] = e.decision.author.principal;
    if (e.decision.author.surface != Surface::kUnknown) out["surface"] = to_string(e.decision.author.surface);
  }
  void operator()(const SessionPaused& e) const { out["reason"] = e.reason; }
  void operator()(const SessionIntervened& e) const {
    out["kind"] = to_string(e.intervention.verb);
    out["text"] = e.intervention.text;
  }
  void operator()(const HistoryCut& e) const {
    out["cause"] = e.cause;
    if (!e.summary.empty()) out["summary"] = e.summary;
  }
  void operator()(const PrefixBroken& e) const {
    out["cause"] = e.prefix.cause;
    out["tokens"] = e.prefix.tokens;
    out["cost_usd"] = e.prefix.cost.usd();
  }
  void operator()(const HookFailed& e) const {
    out["hook"] = e.hook;
    out["message"] = e.message;
  }
  void operator()(const CustomEvent& e) const { out["payload"] = e.payload; }

  void call(const CallId& id, const std::string& name) const {
    out["call"] = id.str();
    out["name"] = name;
  }
};

}  // namespace

std::string_view event_name(const EventBody& body) { return std::visit(Name{}, body); }

bool is_delta(const EventBody& body) {
  return std::holds_alternative<TextDelta>(body) || std::holds_alternative<ReasoningDelta>(body) ||
         std::holds_alternative<ToolCallDelta>(body);
}

bool selects(std::string_view pattern, const EventBody& body) {
  if (pattern == "parts") return !is_delta(body);
  if (pattern == "deltas") return is_delta(body);
  if (pattern.ends_with('*')) return event_name(body).starts_with(pattern.substr(0, pattern.size() - 1));
  return event_name(body) == pattern;
}

EventKinds kinds_of(std::string_view pattern) {
  EventKinds kinds;
  const auto look_at = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    (kinds.set(kIndex, selects(pattern, EventBody(std::in_place_index<kIndex>))), ...);
  };
  look_at(std::make_index_sequence<std::variant_size_v<EventBody>>());
  return kinds;
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
