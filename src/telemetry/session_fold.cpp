#include "telemetry/session_fold.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "praxis/base/digest.hpp"
#include "praxis/core/next.hpp"
#include "telemetry/content.hpp"

namespace praxis::telemetry {
namespace {

constexpr std::size_t kMostEvents = 128;  // of one span

/// A context for sessions of old journals, which recorded none: the same each time.
TraceContext invented(const SessionId& session) {
  const Digest digest = digest_of(session.str());
  const auto number = [&digest](std::size_t first) {
    std::uint64_t value = 0;
    for (std::size_t i = first; i < first + sizeof(value); ++i) value = (value << 8U) | digest.bytes.at(i);
    return value;
  };
  return new_trace(number(0), number(sizeof(std::uint64_t)));
}

/// The parts of a model's name: the provider before the first colon, and the rest.
std::pair<std::string, std::string> model_parts(std::string_view model) {
  const std::size_t colon = model.find(':');
  if (colon == std::string_view::npos) return {"", std::string(model)};
  return {std::string(model.substr(0, colon)), std::string(model.substr(colon + 1))};
}

/// Of a route `A|B` the member that answered, else the first.
std::string_view member_of(std::string_view route, std::string_view answered) {
  const std::string_view first = route.substr(0, route.find('|'));
  while (!answered.empty() && !route.empty()) {
    const std::size_t end = std::min(route.find('|'), route.size());
    const std::string_view member = route.substr(0, end);
    if (answered.starts_with(model_parts(member).second)) return member;
    route.remove_prefix(std::min(end + 1, route.size()));
  }
  return first;
}

std::string error_type(const std::optional<Error>& error, Outcome outcome) {
  if (!error) return std::string(to_string(outcome));
  const std::string kind = json_string(error->detail(), "kind");
  return kind.empty() ? std::string(to_string(error->code)) : kind;
}

void set(Span& span, Key key, Json value) {
  const auto found = std::ranges::find(span.attributes, key, &std::pair<Key, Json>::first);
  if (found != span.attributes.end()) {
    found->second = std::move(value);
  } else {
    span.attributes.emplace_back(key, std::move(value));
  }
}

}  // namespace

Status SessionFold::add(const StoredRecord& stored) {
  now_ = stored.record.time;
  seq_ = stored.seq;
  if (question_.content) {
    if (!state_) state_.emplace();
    if (auto applied = apply_to(*state_, stored.record); !applied) return applied;
  }
  std::visit([this](const auto& body) { fold(body); }, stored.record.body);
  return {};
}

SessionSpans SessionFold::finish() {
  const bool is_open = turn_.has_value();
  if (is_open && question_.open_turn) {
    close_open(now_, "");
    turn().end = now_;
    set(turn(), Key::kIncomplete, true);
    add_usage(turn(), used_);
  } else if (is_open) {
    spans_.resize(*turn_);
    children_.resize(first_child_);
  }
  return {std::move(spans_), std::move(children_), is_open};
}

std::size_t SessionFold::open_span(Operation operation, const TraceContext& context, std::string subject) {
  Span span{
      .context = context, .operation = operation, .subject = std::move(subject), .begin = now_, .end = now_};
  set(span, Key::kConversation, Json(session_.str()));
  if (agent_ != nullptr) {
    set(span, Key::kAgentId, Json(agent_->id));
    set(span, Key::kAgentName, Json(agent_->name.empty() ? agent_->id : agent_->name));
  }
  spans_.push_back(std::move(span));
  return spans_.size() - 1;
}

void SessionFold::add_usage(Span& span, const Usage& usage) {
  set(span, Key::kInputTokens, usage.input);
  set(span, Key::kOutputTokens, usage.output);
  set(span, Key::kTotalTokens, usage.total());
  if (usage.cache_read != 0) set(span, Key::kCacheReadTokens, usage.cache_read);
  if (usage.cache_write != 0) set(span, Key::kCacheWriteTokens, usage.cache_write);
  if (usage.reasoning != 0) set(span, Key::kReasoningTokens, usage.reasoning);
  if (usage.cost.value != 0) set(span, Key::kCost, usage.cost.usd());
  if (usage.estimated) set(span, Key::kEstimated, true);
}

void SessionFold::close_open(UnixMillis time, const std::string& error) {
  const auto close = [&](Span& span) {
    span.end = std::max(time, span.begin);
    set(span, Key::kIncomplete, true);
    if (!error.empty()) span.error = error;
  };
  for (const auto& [effect, open] : effects_) close(spans_[open.span]);
  for (const auto& [park, index] : waits_) close(spans_[index]);
  effects_.clear();
  waits_.clear();
}

// ---- sessions and turns

void SessionFold::fold(const records::SessionCreated& body) {
  session_ = body.session;
  agent_ = body.agent;
  depth_ = body.depth;
  forked_at_ = body.forked_at;
  trace_ = body.trace;
  if (trace_.trace.empty())
    trace_ = above_ == nullptr ? invented(session_) : span_below(*above_, session_.str(), 0);
  if (above_ != nullptr) trace_.parent = above_->span;
}

void SessionFold::fold(const records::TurnStarted& body) {
  if (agent_ == nullptr) return;
  TraceContext context = trace_;
  // A session has one span in its trace context; its later turns get others, next to it.
  if (turns_++ > 0) context.span = span_below(trace_, body.turn.str(), 0).span;
  first_child_ = children_.size();
  used_ = {};
  turn_ = open_span(Operation::kInvokeAgent, context, agent_->name.empty() ? agent_->id : agent_->name);
  const auto [provider, model] = model_parts(member_of(agent_->model, {}));
  if (!provider.empty()) set(turn(), Key::kProvider, Json(provider_name(provider)));
  if (!model.empty()) set(turn(), Key::kRequestModel, Json(model));
  if (!agent_->description.empty()) set(turn(), Key::kAgentDescription, Json(agent_->description));
  set(turn(), Key::kTurn, Json(body.turn.str()));
  set(turn(), Key::kDepth, depth_);
}

/// Whether the turn that ends with this record is.
bool SessionFold::is_wanted() const {
  if (above_ != nullptr) return true;
  const bool is_foreign = question_.own_turns && seq_ <= forked_at_;
  return seq_ > question_.after && (question_.until == 0 || seq_ <= question_.until) && !is_foreign;
}

void SessionFold::fold(const records::TurnSettled& body) {
  if (!turn_) return;
  close_open(now_, std::string(to_string(body.reason)));
  Span& span = turn();
  span.end = now_;
  set(span, Key::kStopReason, Json(to_string(body.reason)));
  add_usage(span, used_);
  if (body.reason != StopReason::kFinished) {
    span.error = to_string(body.reason);
    if (body.error && question_.content) span.message = content_text(question_, body.error->message);
  }
  if (question_.content && state_) {
    const auto& messages = state_->conversation.history().messages();
    if (!messages.empty() && messages.back()->role == Role::kAssistant)
      set(span, Key::kOutput, Json(messages_text(question_, {messages.back()})));
  }
  if (!is_wanted()) {
    spans_.resize(*turn_);
    children_.resize(first_child_);
  }
  turn_.reset();
  calls_.clear();
  within_.clear();
  arguments_.clear();
}

void SessionFold::fold(const records::MessageAppended& body) {
  if (!turn_ || !question_.content || body.source == MessageSource::kRuntime) return;
  if (turn().at(Key::kInput).is_null())
    set(turn(), Key::kInput, Json(messages_text(question_, {body.message})));
}

void SessionFold::fold(const records::Intervened& body) {
  if (body.agent != nullptr) agent_ = body.agent;
  if (turn_ && turn().events.size() < kMostEvents)
    turn().events.push_back({now_, "praxis.command." + std::string(to_string(body.verb))});
}

void SessionFold::fold(const records::Compacted& body) {
  if (turn_ && turn().events.size() < kMostEvents)
    turn().events.push_back({now_, "praxis.compacted." + body.cause});
}

void SessionFold::fold(const records::StatusChanged& body) {
  if (!turn_ || body.cause != "recovered") return;
  if (turn().events.size() < kMostEvents) turn().events.push_back({now_, "praxis.recovered"});
  used_ += body.spent;
  // The process that made these model calls has died; tool calls may continue.
  bool is_charged = false;
  for (auto open = effects_.begin(); open != effects_.end();) {
    if (open->second.kind != EffectKind::kModel) {
      ++open;
      continue;
    }
    Span& span = spans_[open->second.span];
    span.end = now_;
    span.error = "interrupted";
    if (!is_charged && body.spent != Usage{}) {
      span.usage = body.spent;
      add_usage(span, body.spent);
      is_charged = true;
    }
    open = effects_.erase(open);
  }
}

// ---- effects

void SessionFold::fold(const records::EffectIntended& body) {
  if (!turn_ || body.kind == EffectKind::kTimer) return;
  if (body.kind == EffectKind::kModel) {
    intend_model(body);
  } else {
    intend_tool(body);
  }
}

void SessionFold::intend_model(const records::EffectIntended& body) {
  TraceContext context = span_below(trace_, body.effect.str(), body.attempt);
  context.parent = turn().context.span;
  const std::string route = body.patch.model.empty() ? agent_->model : body.patch.model;
  const auto [provider, model] = model_parts(member_of(route, {}));
  const std::size_t index = open_span(Operation::kChat, context, model);
  Span& span = spans_[index];
  span.begin = now_ + body.delay;
  span.end = span.begin;
  set(span, Key::kProvider, Json(provider_name(provider)));
  set(span, Key::kRequestModel, Json(model));
  set(span, Key::kEffect, Json(body.effect.str()));
  if (body.step != 0) set(span, Key::kStep, body.step);
  if (body.attempt > 1) set(span, Key::kAttempt, body.attempt);
  if (body.summary) set(span, Key::kPurpose, Json("summary"));
  if (body.consult) set(span, Key::kPurpose, Json(body.consult->purpose));
  add_request(span, body);
  effects_[body.effect] = {index, body.kind, {}};
}

void SessionFold::add_request(Span& span, const records::EffectIntended& body) {
  const ModelOptions& options = body.patch.options ? *body.patch.options : agent_->options;
  if (options.temperature) set(span, Key::kTemperature, *options.temperature);
  if (options.max_output_tokens) set(span, Key::kMaxTokens, *options.max_output_tokens);
  if (!options.stop.empty()) {
    JsonArray stop;
    for (const std::string& each : options.stop) stop.emplace_back(each);
    set(span, Key::kStopSequences, std::move(stop));
  }
  if (!question_.content || !state_) return;
  const ModelQuestion question = question_of(*state_, body);
  if (!question.instructions.empty()) {
    const JsonObject part{{"type", "text"}, {"content", content_text(question_, question.instructions)}};
    set(span, Key::kInstructions, Json(to_json_text(JsonArray{part})));
  }
  set(span, Key::kInput, Json(messages_text(question_, question.history.messages())));
}

void SessionFold::intend_tool(const records::EffectIntended& body) {
  // After a crash the call continues: its span is the one of the attempt that began it.
  if (const auto open = effects_.find(body.effect); open != effects_.end()) {
    Span& span = spans_[open->second.span];
    set(span, Key::kAttempt, body.attempt);
    if (span.events.size() < kMostEvents) span.events.push_back({now_, "praxis.repeated"});
    return;
  }
  TraceContext context = span_below(trace_, body.effect.str(), body.attempt);
  const auto within = within_.find(body.call);
  const auto outer = within == within_.end() ? calls_.end() : calls_.find(within->second);
  context.parent = outer == calls_.end() ? turn().context.span : outer->second.span;
  const std::size_t index = open_span(Operation::kExecuteTool, context, body.tool);
  Span& span = spans_[index];
  set(span, Key::kToolName, Json(body.tool));
  set(span, Key::kToolCall, Json(body.call.str()));
  set(span, Key::kToolType, Json("function"));
  set(span, Key::kEffect, Json(body.effect.str()));
  if (body.attempt > 1) set(span, Key::kAttempt, body.attempt);
  if (const ToolSpec* tool = agent_->find_tool(body.tool))
    set(span, Key::kToolDescription, Json(tool->definition.description));
  if (question_.content) set(span, Key::kToolArguments, Json(content_text(question_, arguments_[body.call])));
  calls_[body.call] = context;
  effects_[body.effect] = {index, body.kind, body.call};
}

void SessionFold::fold(const records::EffectSettled& body) {
  const auto open = effects_.find(body.effect);
  if (!turn_ || open == effects_.end()) return;
  Span& span = spans_[open->second.span];
  span.begin = std::min(span.begin, now_);
  span.end = now_;
  if (body.outcome != Outcome::kOk) {
    span.error = error_type(body.error, body.outcome);
    if (body.error && question_.content) span.message = content_text(question_, body.error->message);
  }
  if (open->second.kind == EffectKind::kModel) {
    settle_model(span, body);
  } else {
    settle_tool(span, body);
  }
  effects_.erase(open);
}

void SessionFold::settle_model(Span& span, const records::EffectSettled& body) {
  const auto* const answer = std::get_if<ModelResponse>(&body.result);
  if (answer == nullptr) {
    if (body.spent == Usage{}) return;
    span.usage = body.spent;
    used_ += body.spent;
    add_usage(span, body.spent);
    return;
  }
  const Usage usage = answer->usage + answer->failed_usage;
  span.usage = usage;
  used_ += usage;
  add_usage(span, usage);
  const auto [provider, model] = model_parts(member_of(agent_->model, answer->model));
  if (agent_->model.contains('|')) {
    set(span, Key::kProvider, Json(provider_name(provider)));
    set(span, Key::kRequestModel, Json(model));
    span.subject = model;
  }
  if (!answer->model.empty()) set(span, Key::kResponseModel, Json(answer->model));
  if (!answer->response_id.empty()) set(span, Key::kResponseId, Json(answer->response_id));
  set(span, Key::kFinishReasons, JsonArray{Json(to_string(answer->finish))});
  if (!question_.content) return;
  for (const Part& part : answer->parts) {
    if (const auto* call = std::get_if<ToolCallPart>(&part)) arguments_[call->id] = call->arguments;
  }
  set(span, Key::kOutput, Json(answer_text(question_, *answer)));
}

void SessionFold::settle_tool(Span& span, const records::EffectSettled& body) {
  const auto* const outcome = std::get_if<ToolOutcome>(&body.result);
  if (outcome == nullptr) return;
  if (outcome->result.status != ToolStatus::kOk && span.error.empty()) span.error = "tool_error";
  if (question_.content) set(span, Key::kToolResult, Json(content_text(question_, outcome->result.text)));
}

// ---- approvers, calls within calls, sub-agents

void SessionFold::fold(const records::Parked& body) {
  if (!turn_) return;
  TraceContext context = span_below(trace_, body.step.id.str(), 0);
  context.parent = turn().context.span;
  const std::size_t index = open_span(Operation::kWait, context, std::string(to_string(body.step.kind)));
  set(spans_[index], Key::kWaitKind, Json(to_string(body.step.kind)));
  if (!body.step.tool.empty()) set(spans_[index], Key::kToolName, Json(body.step.tool));
  if (!body.step.call.empty()) set(spans_[index], Key::kToolCall, Json(body.step.call.str()));
  waits_[body.step.id] = index;
}

void SessionFold::fold(const records::Decided& body) {
  if (body.verb == ApprovalVerb::kEdit && !body.call.empty()) arguments_[body.call] = body.text;
  const auto wait = waits_.find(body.park);
  if (wait == waits_.end()) return;
  spans_[wait->second].end = now_;
  set(spans_[wait->second], Key::kDecision, Json(to_string(body.verb)));
  waits_.erase(wait);
}

void SessionFold::fold(const records::CallProposed& body) {
  within_[body.call.id] = body.within;
  if (question_.content) arguments_[body.call.id] = body.call.arguments;
}

void SessionFold::fold(const records::ChildSpawned& body) {
  if (!turn_) return;
  const auto call = calls_.find(body.call);
  children_.push_back({body.child, call == calls_.end() ? turn().context : call->second});
}

}  // namespace praxis::telemetry
