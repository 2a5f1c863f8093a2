#include "server/ui_stream.hpp"

#include "app/envelope.hpp"
#include "server/client_conversation.hpp"

namespace praxis::server {
namespace {

std::string_view finish_reason_of(const AgentResult& result) {
  if (result.success) return "stop";
  switch (result.reason.value_or(StopReason::kModelFailed)) {
    case StopReason::kRefused:
      return "content-filter";
    case StopReason::kOutputLimit:
    case StopReason::kTokenLimit:
    case StopReason::kContextLimit:
      return "length";
    case StopReason::kModelFailed:
    case StopReason::kToolFailed:
    case StopReason::kPlanFailed:
      return "error";
    default:
      return "other";
  }
}

/// A chunk about a call. Our tools are not known to the client, and we run them.
JsonObject call_chunk(std::string_view type, const std::string& call) {
  return JsonObject{{"type", type}, {"toolCallId", call}, {"dynamic", true}, {"providerExecuted", true}};
}

JsonObject input_chunk(const std::string& call, const std::string& name, const std::string& arguments) {
  JsonObject chunk = call_chunk("tool-input-available", call);
  chunk["toolName"] = name;
  chunk["input"] = app::program_arguments(arguments);
  return chunk;
}

Json metadata_of(const AgentResult& result) {
  const Usage usage = result.usage + result.usage_children;
  return JsonObject{{"usage", to_json(usage)}, {"costUsd", app::cost_or_null(usage)}};
}

}  // namespace

UiStreamCodec::UiStreamCodec(Begin begin, SessionId run)
    : run_(std::move(run)),
      begin_(std::move(begin)),
      parts_([this](PartStep step, PartKind kind, const std::string& text) { on_part(step, kind, text); }) {}

bool UiStreamCodec::take(const Event& event, std::string& out) {
  if (has_ended_) return true;
  out_ = &out;
  const bool is_own = event.agent.id == run_;
  if (!has_begun_) {
    const bool starts = is_own && std::holds_alternative<events::TurnStarted>(event.body) &&
                        (begin_.turn.empty() || begin_.turn == event.turn);
    if (!starts && !begin_.at_once) return false;
    begin(event.turn);
  }
  is_own ? on_own(event) : on_below(event);
  return has_ended_;
}

void UiStreamCodec::begin(const TurnId& started) {
  has_begun_ = true;
  const TurnId& turn = begin_.turn.empty() ? started : begin_.turn;
  emit(JsonObject{{"type", "start"},
                  {"messageId", run_.str() + "/" + turn.str()},
                  {"messageMetadata", JsonObject{{"run", run_.str()}}}});
}

void UiStreamCodec::take_wait(const std::vector<ParkedStep>& pending, std::string& out) {
  out_ = &out;
  if (!has_begun_) begin({});
  parts_.close();
  for (const ParkedStep& step : pending) {
    const std::string id = client_step_id(run_, step);
    const bool is_own = id.starts_with(run_.str() + "/") && !step.call.empty();
    const std::string call = is_own ? step.call.str() : id;
    if (!is_own) {
      const std::string question = to_json_text(JsonObject{{"question", step.prompt}});
      emit(step.tool.empty() ? input_chunk(call, "ask_user", question)
                             : input_chunk(call, step.tool, step.arguments));
    }
    JsonObject chunk{{"type", "tool-approval-request"}, {"approvalId", id}, {"toolCallId", call}};
    if (!step.prompt.empty()) chunk["reason"] = step.prompt;
    emit(chunk);
  }
  end_chunks("tool-calls", nullptr);
}

void UiStreamCodec::take_error(const Error& error, std::string& out) {
  out_ = &out;
  emit(JsonObject{{"type", "error"}, {"errorText", error.message}});
  end_chunks("error", nullptr);
}

// ---- the run

void UiStreamCodec::on_own(const Event& event) {
  if (std::holds_alternative<events::AttemptSuperseded>(event.body)) {
    if (in_step_) emit(JsonObject{{"type", "reset-step"}});
    return parts_.restart();
  }
  parts_.take(event);
  std::visit(match{[&](const events::StepStarted&) {
                     finish_step();
                     in_step_ = true;
                     emit(JsonObject{{"type", "start-step"}});
                   },
                   [&](const events::StepCompleted&) { finish_step(); },
                   [&](const events::ToolCalled& e) { emit(input_chunk(e.call.str(), e.name, e.arguments)); },
                   [&](const events::ToolCompleted& e) {
                     result(e.call.str(), e.value.is_null() ? Json(e.text) : e.value);
                   },
                   [&](const events::ToolFailed& e) { failed(e.call.str(), e.error.message); },
                   [&](const events::ToolTimedOut& e) { failed(e.call.str(), "the call ran out of time"); },
                   [&](const events::StepDecided& e) { on_decided(e.decision); },
                   [&](const events::ChildSpawned& e) {
                     agents_[e.child] =
                         JsonObject{{"agent", e.name}, {"call", e.call.str()}, {"status", "running"}};
                     show_agent(e.child);
                   },
                   [&](const events::ChildSettled& e) {
                     agents_[e.child]["status"] = to_string(e.reason);
                     show_agent(e.child);
                   },
                   [&](const events::TurnCompleted& e) { end(e.result); },
                   [&](const events::TurnFailed& e) { end(e.result); },
                   [&](const events::TurnTimedOut& e) { end(e.result); },
                   [&](const events::TurnCancelled& e) { end(e.result); }, [](const auto&) {}},
             event.body);
}

void UiStreamCodec::on_decided(const records::Decided& decision) {
  const std::string call =
      decision.call.empty() ? run_.str() + "/" + decision.park.str() : decision.call.str();
  if (decision.verb == ApprovalVerb::kReject) {
    emit(JsonObject{{"type", "tool-output-denied"}, {"toolCallId", call}});
  } else if (decision.verb == ApprovalVerb::kAnswer) {
    result(call, Json(decision.text));
  }
}

void UiStreamCodec::on_part(PartStep step, PartKind kind, const std::string& text) {
  const std::string name = kind == PartKind::kText ? "text" : "reasoning";
  if (step == PartStep::kBegin) part_ = name + "-" + std::to_string(next_part_++);
  has_text_ = has_text_ || kind == PartKind::kText;
  JsonObject chunk{{"type", name + (step == PartStep::kBegin   ? "-start"
                                    : step == PartStep::kPiece ? "-delta"
                                                               : "-end")},
                   {"id", part_}};
  if (step == PartStep::kPiece) chunk["delta"] = text;
  emit(chunk);
}

void UiStreamCodec::result(const std::string& call, const Json& output) {
  JsonObject chunk = call_chunk("tool-output-available", call);
  chunk["output"] = output;
  emit(chunk);
}

void UiStreamCodec::failed(const std::string& call, const std::string& reason) {
  JsonObject chunk = call_chunk("tool-output-error", call);
  chunk["errorText"] = reason;
  emit(chunk);
}

// ---- sub-agents, each as a part with its id that is replaced

void UiStreamCodec::on_below(const Event& event) {
  const SessionId& agent = event.agent.id;
  const auto known_as = [&](const CallId& call) -> std::string {
    const auto found = decided_calls_.find({agent, call});
    return found == decided_calls_.end() ? "" : found->second;
  };
  const auto status = [&](std::string_view value) {
    agents_[agent]["status"] = value;
    show_agent(agent);
  };
  std::visit(match{[&](const events::TurnStarted& e) {
                     if (e.config)
                       agents_[agent]["agent"] = e.config->name.empty() ? e.config->id : e.config->name;
                     status("running");
                   },
                   [&](const events::AssistantText& e) {
                     agents_[agent]["text"] = e.text;
                     show_agent(agent);
                   },
                   [&](const events::StepParked&) { status("waiting"); },
                   [&](const events::StepDecided& e) {
                     status("running");
                     const std::string id = agent.str() + "/" + e.decision.park.str();
                     if (!begin_.decided.contains(id)) return;
                     decided_calls_[{agent, e.decision.call}] = id;
                     if (e.decision.verb == ApprovalVerb::kReject)
                       emit(JsonObject{{"type", "tool-output-denied"}, {"toolCallId", id}});
                     if (e.decision.verb == ApprovalVerb::kAnswer) result(id, Json(e.decision.text));
                   },
                   [&](const events::ToolCompleted& e) {
                     if (const std::string id = known_as(e.call); !id.empty())
                       result(id, e.value.is_null() ? Json(e.text) : e.value);
                   },
                   [&](const events::ToolFailed& e) {
                     if (const std::string id = known_as(e.call); !id.empty()) failed(id, e.error.message);
                   },
                   [&](const events::ChildSpawned& e) {
                     agents_[e.child] =
                         JsonObject{{"agent", e.name}, {"parent", agent.str()}, {"status", "running"}};
                     show_agent(e.child);
                   },
                   [&](const events::ChildSettled& e) {
                     agents_[e.child]["status"] = to_string(e.reason);
                     show_agent(e.child);
                   },
                   [](const auto&) {}},
             event.body);
}

void UiStreamCodec::show_agent(const SessionId& agent) {
  emit(JsonObject{{"type", "data-agent"}, {"id", agent.str()}, {"data", agents_[agent]}});
}

// ---- the end

void UiStreamCodec::finish_step() {
  parts_.close();
  if (std::exchange(in_step_, false)) emit(JsonObject{{"type", "finish-step"}});
}

void UiStreamCodec::end(const AgentResult& result) {
  parts_.close();
  if (result.success && !has_text_ && !result.text.empty()) {  // the answer of a written plan
    for (const PartStep step : {PartStep::kBegin, PartStep::kPiece, PartStep::kEnd})
      on_part(step, PartKind::kText, result.text);
  }
  if (result.aborted()) {
    finish_step();
    emit(JsonObject{{"type", "abort"}, {"reason", "the turn was stopped"}});
  } else if (!result.success && result.error) {
    emit(JsonObject{{"type", "error"}, {"errorText", result.error->message}});
  }
  end_chunks(finish_reason_of(result), metadata_of(result));
}

void UiStreamCodec::end_chunks(std::string_view reason, Json metadata) {
  finish_step();
  JsonObject chunk{{"type", "finish"}, {"finishReason", reason}};
  if (!metadata.is_null()) chunk["messageMetadata"] = std::move(metadata);
  emit(chunk);
  out_->append("data: [DONE]\n\n");
  has_ended_ = true;
}

void UiStreamCodec::emit(const JsonObject& chunk) {
  out_->append("data: ");
  append_json(*out_, chunk);
  out_->append("\n\n");
}

}  // namespace praxis::server
