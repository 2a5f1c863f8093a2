#include "app/read_program_json.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "praxis/base/dates.hpp"

namespace praxis::app {
namespace {

std::uint32_t number_of(const Json& json, std::string_view key, std::int64_t fallback = 0) {
  return static_cast<std::uint32_t>(json_int(json, key, fallback));
}

Millis millis_of(const Json& json, std::string_view key) { return Millis(json_int(json, key)); }

UnixMillis time_of(const Json& json, std::string_view key) {
  return from_iso8601(json_text(json, key)).value_or(UnixMillis());
}

/// The arguments of a call, which are an object, or a string if they are not one.
std::string arguments_of(const Json& json) {
  const Json& arguments = json_at(json, "arguments");
  return arguments.is_null() ? "" : to_plain_text(arguments);
}

std::vector<std::string> strings_in(const Json& json) {
  std::vector<std::string> texts;
  if (const JsonArray* items = json.if_array())
    std::ranges::transform(*items, std::back_inserter(texts),
                           [](const Json& item) { return to_plain_text(item); });
  return texts;
}

// ---- events

/// The members that the events of calls have in common.
template <class E>
E call_event(const Json& json) {
  E event;
  event.call = CallId(json_string(json, "call"));
  event.name = json_string(json, "name");
  if constexpr (requires { event.arguments; }) event.arguments = arguments_of(json);
  if constexpr (requires { event.duration; }) event.duration = millis_of(json, "duration_ms");
  if constexpr (requires { event.text; }) event.text = json_string(json, "text");
  if constexpr (requires { event.error; }) event.error = error_from_json(json_at(json, "error"));
  return event;
}

template <class E>
EventBody body_of_call(const Json& json) {
  return call_event<E>(json);
}

template <class E>
EventBody body_of_text(const Json& json) {
  E event;
  event.text = json_string(json, "text");
  return event;
}

template <class E>
EventBody body_of_delta(const Json& json) {
  E event;
  event.item = number_of(json, "item");
  if constexpr (requires { event.text; }) event.text = json_string(json, "text");
  if constexpr (requires { event.summary; }) event.summary = json_bool(json, "summary");
  if constexpr (requires { event.arguments; }) {
    event.call = CallId(json_string(json, "call"));
    event.name = json_string(json, "name");
    event.arguments = json_string(json, "arguments");
  }
  return event;
}

template <class E>
EventBody body_without_members(const Json& /*json*/) {
  return E{};
}

EventBody turn_started(const Json& json) {
  const Json& config = json_at(json, "config");
  if (!config.is_object()) return events::TurnStarted{};
  AgentSpec agent;
  agent.id = json_string(config, "agent");
  agent.model = json_string(config, "model");
  return events::TurnStarted{std::make_shared<const AgentSpec>(std::move(agent))};
}

EventBody message_added(const Json& json) {
  events::MessageAdded event;
  if (auto message = message_from_json(json_at(json, "message")))
    event.message = std::make_shared<const Message>(*std::move(message));
  event.source = message_source_from(json_string(json, "source")).value_or(MessageSource::kUser);
  return event;
}

template <class E>
EventBody turn_ended(const Json& json) {
  return E{result_from(json_at(json, "result"))};
}

EventBody model_requested(const Json& json) {
  events::ModelRequested event;
  event.model = json_string(json, "model");
  event.purpose = json_string(json, "purpose");
  return event;
}

EventBody model_responded(const Json& json) {
  events::ModelResponded event;
  event.model = json_string(json, "model");
  event.usage = usage_from_json(json_at(json, "usage"));
  event.purpose = json_string(json, "purpose");
  event.duration = millis_of(json, "duration_ms");
  return event;
}

EventBody model_failed(const Json& json) {
  return events::ModelFailed{error_from_json(json_at(json, "error"))};
}

EventBody model_waiting(const Json& json) {
  using events::WaitReason;
  events::ModelWaiting event;
  for (const WaitReason reason : {WaitReason::kRateLimit, WaitReason::kBudget}) {
    if (json_text(json, "reason") == to_string(reason)) event.reason = reason;
  }
  if (const Json& error = json_at(json, "error"); error.is_object()) event.error = error_from_json(error);
  event.attempts = number_of(json, "attempts");
  event.delay = millis_of(json, "delay_ms");
  event.until = time_of(json, "until");
  event.gives_up = time_of(json, "gives_up");
  return event;
}

EventBody child_spawned(const Json& json) {
  return events::ChildSpawned{SessionId(json_string(json, "child")), json_string(json, "agent"),
                              CallId(json_string(json, "call"))};
}

EventBody child_settled(const Json& json) {
  return events::ChildSettled{SessionId(json_string(json, "child")),
                              stop_reason_from(json_string(json, "reason")).value_or(StopReason::kFinished),
                              usage_from_json(json_at(json, "usage"))};
}

EventBody step_parked(const Json& json) {
  return events::StepParked{parked_step_from(json_at(json, "parked"))};
}

Author author_from(const Json& json) {
  return {json_string(json, "by"), surface_from(json_string(json, "surface")).value_or(Surface::kUnknown),
          json_string(json, "role")};
}

EventBody step_decided(const Json& json) {
  events::StepDecided event;
  event.decision.park = ParkId(json_string(json, "park"));
  event.decision.call = CallId(json_string(json, "call"));
  event.decision.verb = approval_verb_from(json_string(json, "verb")).value_or(ApprovalVerb::kApprove);
  event.decision.text = json_string(json, "text");
  event.decision.author = author_from(json);
  return event;
}

EventBody session_paused(const Json& json) { return events::SessionPaused{json_string(json, "reason")}; }

EventBody session_intervened(const Json& json) {
  events::SessionIntervened event;
  event.intervention.verb = command_verb_from(json_string(json, "kind")).value_or(CommandVerb::kAnnotate);
  event.intervention.text = json_string(json, "text");
  event.intervention.author = author_from(json);
  return event;
}

EventBody history_cut(const Json& json) {
  return events::HistoryCut{json_string(json, "cause"), json_string(json, "summary")};
}

EventBody hook_failed(const Json& json) {
  return events::HookFailed{json_string(json, "hook"), json_string(json, "message")};
}

struct EventReader {
  std::string_view name;
  EventBody (*read)(const Json& json);
};

constexpr EventReader kEventReaders[] = {
    {"step.started", body_without_members<events::StepStarted>},
    {"step.completed", body_without_members<events::StepCompleted>},
    {"turn.started", turn_started},
    {"turn.completed", turn_ended<events::TurnCompleted>},
    {"turn.failed", turn_ended<events::TurnFailed>},
    {"turn.timed_out", turn_ended<events::TurnTimedOut>},
    {"turn.cancelled", turn_ended<events::TurnCancelled>},
    {"message.added", message_added},
    {"model.requested", model_requested},
    {"text.delta", body_of_delta<events::TextDelta>},
    {"reasoning.delta", body_of_delta<events::ReasoningDelta>},
    {"tool_call.delta", body_of_delta<events::ToolCallDelta>},
    {"assistant.text", body_of_text<events::AssistantText>},
    {"model.responded", model_responded},
    {"model.failed", model_failed},
    {"attempt.superseded", body_without_members<events::AttemptSuperseded>},
    {"model.waiting", model_waiting},
    {"tool.called", body_of_call<events::ToolCalled>},
    {"tool.started", body_of_call<events::ToolStarted>},
    {"tool.progress", body_of_call<events::ToolProgress>},
    {"tool.completed", body_of_call<events::ToolCompleted>},
    {"tool.failed", body_of_call<events::ToolFailed>},
    {"tool.timed_out", body_of_call<events::ToolTimedOut>},
    {"child.spawned", child_spawned},
    {"child.settled", child_settled},
    {"step.parked", step_parked},
    {"step.decided", step_decided},
    {"session.paused", session_paused},
    {"session.unpaused", body_without_members<events::SessionUnpaused>},
    {"session.recovered", body_without_members<events::SessionRecovered>},
    {"session.intervened", session_intervened},
    {"history.cut", history_cut},
    {"hook.failed", hook_failed},
};

}  // namespace

Event event_from(const Json& json) {
  Event event;
  event.agent.id = SessionId(json_string(json, "session"));
  event.agent.depth = number_of(json, "depth");
  event.agent.parent = SessionId(json_string(json, "parent"));
  event.seq = static_cast<std::uint64_t>(json_int(json, "seq"));
  event.turn = TurnId(json_string(json, "turn"));
  event.step = number_of(json, "step");
  event.attempt = number_of(json, "attempt", 1);
  event.time = time_of(json, "time");
  const std::string_view name = json_text(json, "event");
  const auto* const kind = std::ranges::find(kEventReaders, name, &EventReader::name);
  event.body = kind == std::end(kEventReaders) ? EventBody(events::Custom{std::string(name), nullptr})
                                               : kind->read(json);
  return event;
}

ParkedStep parked_step_from(const Json& json) {
  ParkedStep step;
  step.id = ParkId(json_string(json, "id"));
  step.kind = park_kind_from(json_string(json, "kind")).value_or(ParkKind::kApproval);
  step.prompt = json_string(json, "prompt");
  step.call = CallId(json_string(json, "call"));
  step.tool = json_string(json, "tool");
  step.arguments = arguments_of(json);
  step.digest = Digest::from_hex(json_text(json, "digest")).value_or(Digest());
  step.schema = json_at(json, "schema");
  step.session = SessionId(json_string(json, "session"));
  step.path = json_string(json, "path");
  step.expires = time_of(json, "expires");
  return step;
}

namespace {

std::vector<ParkedStep> pending_of(const Json& json) {
  std::vector<ParkedStep> steps;
  if (const JsonArray* items = json_at(json, "pending").if_array())
    std::ranges::transform(*items, std::back_inserter(steps), parked_step_from);
  return steps;
}

}  // namespace

AgentResult result_from(const Json& json) {
  AgentResult result;
  result.id = json_string(json, "id");
  result.session = SessionId(json_string(json, "run_id"));
  result.agent = json_string(json, "agent");
  result.model = json_string(json, "model");
  result.success = json_bool(json, "success");
  result.status = session_status_from(json_string(json, "status")).value_or(SessionStatus::kIdle);
  result.reason = stop_reason_from(json_string(json, "termination"));
  result.text = json_string(json, "result");
  result.started_at = time_of(json, "started_at");
  result.finished_at = time_of(json, "finished_at");
  result.steps = number_of(json, "steps");
  result.usage = usage_from_json(json_at(json_at(json, "usage"), "subtree"));
  result.duration = millis_of(json_at(json, "metrics"), "duration_ms");
  result.pending = pending_of(json);
  result.denials = strings_in(json_at(json, "denials"));
  result.warnings = strings_in(json_at(json_at(json, "diagnostics"), "warnings"));
  const JsonArray* errors = json_at(json, "errors").if_array();
  if (errors != nullptr && !errors->empty()) result.error = error_from_json(errors->front());
  if (const JsonArray* actions = json_at(json, "actions").if_array()) {
    for (const Json& item : *actions) {
      ActionResult action;
      action.step = number_of(item, "step");
      action.call = CallId(json_string(item, "call"));
      action.tool = json_string(item, "tool");
      action.outcome = outcome_from(json_string(item, "outcome")).value_or(Outcome::kUnknown);
      result.actions.push_back(std::move(action));
    }
  }
  return result;
}

AgentNode node_from(const Json& json) {
  AgentNode node;
  node.id = SessionId(json_string(json, "id"));
  node.parent = SessionId(json_string(json, "parent"));
  for (std::string& child : strings_in(json_at(json, "children")))
    node.children.emplace_back(std::move(child));
  node.agent = json_string(json, "agent");
  node.path = json_string(json, "path");
  node.depth = number_of(json, "depth");
  node.status = session_status_from(json_string(json, "status")).value_or(SessionStatus::kIdle);
  node.paused = json_bool(json, "paused");
  node.held = json_bool(json, "held");
  node.content = json_string(json, "content");
  node.comment = json_string(json, "comment");
  node.metadata = json_at(json, "metadata");
  node.usage = usage_from_json(json_at(json_at(json, "usage"), "self"));
  node.subtree = usage_from_json(json_at(json_at(json, "usage"), "subtree"));
  node.step = number_of(json, "step");
  node.created = time_of(json, "created");
  node.updated = time_of(json, "updated");
  node.ended_turns = Millis{json_int(json, "ended_turns_ms")};
  node.turn_began = time_of(json, "turn_began");
  if (const Json& waits = json_at(json, "waits"); waits.is_object()) {
    node.waits =
        NodeWait{json_string(waits, "reason"), json_string(waits, "what"),     time_of(waits, "since"),
                 time_of(waits, "until"),      number_of(waits, "attempt", 1), number_of(waits, "attempts")};
  }
  node.pending = pending_of(json);
  if (const JsonArray* waiting = json_at(json, "waiting").if_array()) {
    for (const Json& each : *waiting)
      node.waiting.push_back({static_cast<std::uint64_t>(json_int(each, "id")),
                              command_verb_from(json_text(each, "verb")).value_or(CommandVerb::kEnqueue),
                              json_string(each, "text")});
  }
  return node;
}

}  // namespace praxis::app
