#include "server/ag_ui.hpp"

#include <algorithm>
#include <utility>

#include "server/client_conversation.hpp"

namespace praxis::server {
namespace {

/// An operation of JSON Patch.
Json replaced(const char* path, Json value) {
  return JsonObject{{"op", "replace"}, {"path", path}, {"value", std::move(value)}};
}

JsonObject usage_of_run(const Usage& usage) {
  return JsonObject{{"inputTokens", usage.input},
                    {"outputTokens", usage.output},
                    {"totalTokens", usage.total()},
                    {"reasoningTokens", usage.reasoning},
                    {"cachedInputTokens", usage.cache_read},
                    {"cacheWriteInputTokens", usage.cache_write}};
}

/// What the client is to send as `payload`.
Json response_schema(const ParkedStep& step) {
  const auto allowed = allowed_approvals(step.kind);
  const bool asks = std::ranges::find(allowed, ApprovalVerb::kApprove) == allowed.end();
  if (asks) return step.schema.is_object() ? step.schema : Json(JsonObject{{"type", "string"}});
  return JsonObject{{"type", "object"},
                    {"properties", JsonObject{{"approved", JsonObject{{"type", "boolean"}}},
                                              {"reason", JsonObject{{"type", "string"}}},
                                              {"arguments", JsonObject{{"type", "object"}}}}},
                    {"required", JsonArray{"approved"}}};
}

std::string_view reason_of(ParkKind kind) {
  return kind == ParkKind::kApproval ? "tool_call" : to_string(kind);
}

}  // namespace

AgUiCodec::AgUiCodec(Begin begin, SessionId run) : run_(std::move(run)), begin_(std::move(begin)) {}

bool AgUiCodec::take(const Event& event, std::string& out) {
  if (has_ended_) return true;
  out_ = &out;
  time_ = event.time;
  if (!has_begun_) {
    const bool starts = event.agent.id == run_ && std::holds_alternative<events::TurnStarted>(event.body) &&
                        (begin_.turn.empty() || begin_.turn == event.turn);
    if (!starts && !begin_.at_once) return false;
    begin();
  }
  if (concerns(event)) on_event(event, voice(event.agent.id));
  return has_ended_;
}

void AgUiCodec::begin(std::string_view status) {
  has_begun_ = true;
  emit(JsonObject{{"type", "RUN_STARTED"},
                  {"threadId", begin_.thread},
                  {"runId", begin_.id},
                  {"protocolVersion", "1.0"}});
  if (!begin_.messages.is_null())
    emit(JsonObject{{"type", "MESSAGES_SNAPSHOT"}, {"messages", begin_.messages}});
  show_state(status);
}

std::string AgUiCodec::idle() {
  std::string out;
  out_ = &out;
  begin("idle");
  finish(JsonObject{{"type", "success"}}, nullptr, nullptr);
  return out;
}

void AgUiCodec::take_wait(const std::vector<ParkedStep>& pending, std::string& out) {
  out_ = &out;
  if (!has_begun_) begin();
  JsonArray interrupts;
  for (const ParkedStep& step : pending) {
    const std::string id = client_step_id(run_, step);
    const SessionId session(id.substr(0, id.rfind('/')));
    JsonObject interrupt{
        {"id", id}, {"reason", reason_of(step.kind)}, {"responseSchema", response_schema(step)}};
    if (!step.prompt.empty()) interrupt["message"] = step.prompt;
    if (!step.call.empty()) interrupt["toolCallId"] = call_id(session, step.call);
    if (session != run_) interrupt["subagentRunId"] = voice(session).subagent;
    if (step.expires.value != 0) interrupt["expiresAt"] = to_iso8601(step.expires);
    if (!step.tool.empty())
      interrupt["metadata"] = JsonObject{{"tool", step.tool}, {"arguments", step.arguments}};
    interrupts.emplace_back(std::move(interrupt));
  }
  close_all(&pending);
  show_state("awaiting_user");
  finish(JsonObject{{"type", "interrupt"}, {"interrupts", std::move(interrupts)}}, nullptr, nullptr);
}

void AgUiCodec::take_error(const Error& error, std::string& out) {
  out_ = &out;
  if (!has_begun_) begin();
  emit(JsonObject{{"type", "RUN_ERROR"}, {"message", error.message}, {"code", to_string(error.code)}});
  has_ended_ = true;
}

// ---- sessions

/// Whether the event is of the run, of a sub-agent that speaks, or makes one speak again.
bool AgUiCodec::concerns(const Event& event) const {
  if (event.agent.id == run_) return true;
  if (const auto found = voices_.find(event.agent.id); found != voices_.end() && found->second->is_open)
    return true;
  return std::visit(
      match{[](const events::StepStarted&) { return true; }, [](const events::StepDecided&) { return true; },
            [](const events::ToolCalled&) { return true; }, [](const events::ToolCompleted&) { return true; },
            [](const events::TextDelta&) { return true; }, [](const events::AssistantText&) { return true; },
            [](const auto&) { return false; }},
      event.body);
}

AgUiCodec::Voice& AgUiCodec::voice(const SessionId& session) {
  auto& found = voices_[session];
  if (!found) {
    found = std::make_unique<Voice>(nullptr);
    Voice* const made = found.get();
    made->parts = AnswerParts([this, made](PartStep step, PartKind kind, const std::string& text) {
      on_part(*made, step, kind, text);
    });
    made->is_open = session == run_;
  }
  // A turn that continues after a decision has sub-agents that began before.
  if (!found->is_open) open(session, "sub-agent", {}, {});
  return *found;
}

void AgUiCodec::open(const SessionId& session, const std::string& name, const std::string& call,
                     const SessionId& parent) {
  if (!voices_[session]) {
    voices_[session] = std::make_unique<Voice>(nullptr);
    Voice* const made = voices_[session].get();
    made->parts = AnswerParts([this, made](PartStep step, PartKind kind, const std::string& text) {
      on_part(*made, step, kind, text);
    });
  }
  Voice& opened = *voices_[session];
  if (std::exchange(opened.is_open, true)) return;
  const std::size_t times = ++times_[session];
  opened.subagent = session.str() + (times > 1 ? "." + std::to_string(times) : "");
  JsonObject event{{"type", "SUBAGENT_STARTED"}, {"subagentRunId", opened.subagent}, {"name", name}};
  if (!call.empty()) event["parentToolCallId"] = call;
  if (const auto above = voices_.find(parent); above != voices_.end() && !above->second->subagent.empty())
    event["parentSubagentRunId"] = above->second->subagent;
  emit(std::move(event));
}

std::string AgUiCodec::call_id(const SessionId& session, const CallId& call) const {
  return session == run_ ? call.str() : session.str() + "/" + call.str();
}

// ---- what happens

void AgUiCodec::on_event(const Event& event, Voice& voice) {
  const SessionId& session = event.agent.id;
  const bool is_own = session == run_;
  if (std::holds_alternative<events::StepStarted>(event.body)) {
    finish_step(voice);
    voice.place = session.str() + "/" + event.turn.str() + "/" + std::to_string(event.step);
    voice.texts = voice.reasonings = 0;
  }
  voice.parts.take(event);
  const auto end_turn = [&](const AgentResult& result) { is_own ? end(result) : finish_step(voice); };
  std::visit(
      match{[&](const events::StepStarted&) {
              voice.step = "step " + std::to_string(event.step);
              emit(JsonObject{{"type", "STEP_STARTED"}, {"stepName", voice.step}}, &voice);
            },
            [&](const events::StepCompleted&) { finish_step(voice); },
            [&](const events::ModelResponded& e) {
              work_.tokens += e.usage.total();
              change_state(
                  {replaced("/model_calls", ++work_.model_calls), replaced("/tokens", work_.tokens)});
            },
            [&](const events::ToolCalled& e) {
              called(e, session, voice);
              change_state({replaced("/tool_calls", ++work_.tool_calls)});
            },
            [&](const events::ToolCompleted& e) { result(voice, call_id(session, e.call), e.text); },
            [&](const events::ToolFailed& e) { voice.errors[call_id(session, e.call)] = e.error.message; },
            [&](const events::ToolTimedOut& e) {
              voice.errors[call_id(session, e.call)] = "The call ran out of time.";
            },
            [&](const events::StepDecided& e) {
              if (e.decision.call.empty()) return;
              const std::string call = call_id(session, e.decision.call);
              if (e.decision.verb == ApprovalVerb::kAnswer) result(voice, call, e.decision.text);
              if (e.decision.verb == ApprovalVerb::kReject)
                result(voice, call, "The call was denied. " + e.decision.text);
            },
            [&](const events::ChildSpawned& e) { open(e.child, e.name, call_id(session, e.call), session); },
            [&](const events::ChildSettled& e) { settled(e); },
            [&](const events::TurnCompleted& e) { end_turn(e.result); },
            [&](const events::TurnFailed& e) { end_turn(e.result); },
            [&](const events::TurnTimedOut& e) { end_turn(e.result); },
            [&](const events::TurnCancelled& e) { end_turn(e.result); }, [](const auto&) {}},
      event.body);
}

/// The first text of a step has the id that its calls name as their message.
void AgUiCodec::on_part(Voice& voice, PartStep step, PartKind kind, const std::string& text) {
  const bool is_text = kind == PartKind::kText;
  const std::string begin = is_text ? "TEXT_MESSAGE_" : "REASONING_MESSAGE_";
  if (step == PartStep::kBegin) {
    std::size_t& count = is_text ? voice.texts : voice.reasonings;
    voice.part = voice.place + (is_text ? "" : "/r") + (count == 0 ? "" : "." + std::to_string(count));
    ++count;
    has_text_ = has_text_ || (is_text && voice.subagent.empty());
    if (!is_text) emit(JsonObject{{"type", "REASONING_START"}, {"messageId", voice.part}}, &voice);
    emit(JsonObject{{"type", begin + "START"},
                    {"messageId", voice.part},
                    {"role", is_text ? "assistant" : "reasoning"}},
         &voice);
  } else if (step == PartStep::kPiece) {
    emit(JsonObject{{"type", begin + "CONTENT"}, {"messageId", voice.part}, {"delta", text}}, &voice);
  } else {
    emit(JsonObject{{"type", begin + "END"}, {"messageId", voice.part}}, &voice);
    if (!is_text) emit(JsonObject{{"type", "REASONING_END"}, {"messageId", voice.part}}, &voice);
  }
}

void AgUiCodec::called(const events::ToolCalled& call, const SessionId& session, Voice& voice) {
  voice.parts.close();
  const std::string id = call_id(session, call.call);
  JsonObject start{{"type", "TOOL_CALL_START"}, {"toolCallId", id}, {"toolCallName", call.name}};
  if (!voice.place.empty()) start["parentMessageId"] = voice.place;
  emit(std::move(start), &voice);
  emit(JsonObject{{"type", "TOOL_CALL_ARGS"}, {"toolCallId", id}, {"delta", call.arguments}}, &voice);
  emit(JsonObject{{"type", "TOOL_CALL_END"}, {"toolCallId", id}}, &voice);
}

void AgUiCodec::result(Voice& voice, const std::string& call, const std::string& text) {
  voice.errors.erase(call);
  emit(JsonObject{{"type", "TOOL_CALL_RESULT"},
                  {"messageId", call + "/result"},
                  {"toolCallId", call},
                  {"content", text},
                  {"role", "tool"}},
       &voice);
}

void AgUiCodec::finish_step(Voice& voice) {
  voice.parts.close();
  for (const auto& [call, error] : std::map(std::exchange(voice.errors, {}))) result(voice, call, error);
  if (voice.step.empty()) return;
  emit(JsonObject{{"type", "STEP_FINISHED"}, {"stepName", std::exchange(voice.step, {})}}, &voice);
}

void AgUiCodec::settled(const events::ChildSettled& child) {
  Voice& below = voice(child.child);
  finish_step(below);
  if (child.reason == StopReason::kFinished) {
    emit(JsonObject{{"type", "SUBAGENT_FINISHED"}, {"outcome", JsonObject{{"type", "success"}}}}, &below);
  } else {
    emit(JsonObject{{"type", "SUBAGENT_ERROR"},
                    {"message", "The sub-agent ended early."},
                    {"code", to_string(child.reason)}},
         &below);
  }
  below.is_open = false;
}

// ---- the end

void AgUiCodec::close_all(const std::vector<ParkedStep>* pending) {
  for (auto& [session, voice] : voices_) {
    if (!voice->is_open) continue;
    finish_step(*voice);
    if (voice->subagent.empty()) continue;
    JsonArray ids;
    for (const ParkedStep& step : pending != nullptr ? *pending : std::vector<ParkedStep>{}) {
      if (std::string id = client_step_id(run_, step); id.starts_with(session.str() + "/"))
        ids.emplace_back(std::move(id));
    }
    JsonObject outcome{{"type", "suspended"}};
    if (!ids.empty()) outcome["interruptIds"] = std::move(ids);
    emit(JsonObject{{"type", "SUBAGENT_FINISHED"}, {"outcome", std::move(outcome)}}, voice.get());
    voice->is_open = false;
  }
}

void AgUiCodec::end(const AgentResult& result) {
  Voice& own = voice(run_);
  if (result.success && !has_text_ && !result.text.empty()) {  // the answer of a written plan
    if (own.place.empty()) own.place = result.id + "/0";
    for (const PartStep step : {PartStep::kBegin, PartStep::kPiece, PartStep::kEnd})
      on_part(own, step, PartKind::kText, result.text);
  }
  close_all(nullptr);
  show_state(to_string(result.status));
  const Usage usage = result.usage + result.usage_children;
  if (result.success)
    return finish(JsonObject{{"type", "success"}}, JsonObject{{"text", result.text}}, &usage);
  if (result.aborted()) return finish(JsonObject{{"type", "cancelled"}}, nullptr, &usage);
  emit(JsonObject{{"type", "RUN_ERROR"},
                  {"message", result.error ? result.error->message : "the turn failed"},
                  {"code", result.reason ? to_string(*result.reason) : "failed"},
                  {"usage", JsonArray{usage_of_run(usage)}}});
  has_ended_ = true;
}

void AgUiCodec::finish(JsonObject outcome, Json result, const Usage* usage) {
  JsonObject event{{"type", "RUN_FINISHED"},
                   {"threadId", begin_.thread},
                   {"runId", begin_.id},
                   {"outcome", std::move(outcome)}};
  if (!result.is_null()) event["result"] = std::move(result);
  if (usage != nullptr) event["usage"] = JsonArray{usage_of_run(*usage)};
  emit(std::move(event));
  has_ended_ = true;
}

void AgUiCodec::show_state(std::string_view status) {
  emit(JsonObject{{"type", "STATE_SNAPSHOT"},
                  {"snapshot", JsonObject{{"run", run_.str()},
                                          {"status", status},
                                          {"model_calls", work_.model_calls},
                                          {"tool_calls", work_.tool_calls},
                                          {"tokens", work_.tokens}}}});
}

/// The state has changed where these say.
void AgUiCodec::change_state(JsonArray operations) {
  emit(JsonObject{{"type", "STATE_DELTA"}, {"delta", std::move(operations)}});
}

void AgUiCodec::emit(JsonObject event, const Voice* voice) {
  if (voice != nullptr && !voice->subagent.empty()) event["subagentRunId"] = voice->subagent;
  if (time_.value != 0) event["timestamp"] = time_.value;
  out_->append("data: ");
  append_json(*out_, event);
  out_->append("\n\n");
}

// ---- snapshots

namespace {

void add_parts(const Message& message, const std::string& id, JsonArray& out) {
  JsonArray calls;
  std::string reasoning;
  for (const Part& part : message.parts) {
    if (const auto* call = std::get_if<ToolCallPart>(&part)) {
      calls.emplace_back(
          JsonObject{{"id", call->id.str()},
                     {"type", "function"},
                     {"function", JsonObject{{"name", call->name}, {"arguments", call->arguments}}}});
    } else if (const auto* result = std::get_if<ToolResultPart>(&part)) {
      out.emplace_back(JsonObject{{"id", result->id.str() + "/result"},
                                  {"role", "tool"},
                                  {"toolCallId", result->id.str()},
                                  {"content", result->text}});
    } else if (const auto* thought = std::get_if<ReasoningPart>(&part)) {
      reasoning += thought->text;
    }
  }
  if (message.role == Role::kTool) return;
  if (!reasoning.empty())
    out.emplace_back(JsonObject{{"id", id + "/r"}, {"role", "reasoning"}, {"content", reasoning}});
  JsonObject said{{"id", id}, {"role", to_string(message.role)}, {"content", message.text()}};
  if (!calls.empty()) said["toolCalls"] = std::move(calls);
  out.emplace_back(std::move(said));
}

}  // namespace

JsonArray ag_ui_messages(const SessionId& run, const std::vector<MessagePtr>& messages, std::size_t until) {
  JsonArray out;
  for (std::size_t i = 0; i < std::min(until, messages.size()); ++i) {
    const Message& message = *messages[i];
    add_parts(message, json_string(message.metadata, "client_id", run.str() + "/" + message.id.str()), out);
  }
  return out;
}

}  // namespace praxis::server
