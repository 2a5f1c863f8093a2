#include "server/chat_codec.hpp"

#include <algorithm>
#include <utility>

#include "server/external_calls.hpp"
#include "server/openai.hpp"

namespace praxis::server {
namespace {

Json chat_usage(const Usage& usage) {
  return JsonObject{{"prompt_tokens", usage.input},
                    {"completion_tokens", usage.output},
                    {"total_tokens", usage.total()},
                    {"prompt_tokens_details", JsonObject{{"cached_tokens", usage.cache_read}}},
                    {"completion_tokens_details", JsonObject{{"reasoning_tokens", usage.reasoning}}}};
}

}  // namespace

ChatCodec::ChatCodec(Head head, SessionId run)
    : run_(std::move(run)),
      head_(std::move(head)),
      parts_([this](PartStep step, PartKind kind, const std::string& text) {
        if (kind != PartKind::kText || step != PartStep::kPiece) return;
        text_ += text;
        has_text_ = true;
        delta(JsonObject{{"content", text}}, nullptr);
      }) {}

bool ChatCodec::take(const Event& event, std::string& out) {
  if (has_ended_) return true;
  if (event.agent.id != run_) return false;
  out_ = &out;
  has_begun_ = has_begun_ || head_.at_once || std::holds_alternative<events::TurnStarted>(event.body);
  if (!has_begun_) return false;
  if (std::holds_alternative<events::StepStarted>(event.body)) text_.clear();
  parts_.take(event);
  std::visit(match{[&](const events::ModelResponded& e) { usage_ += e.usage; },
                   [&](const events::TurnCompleted& e) { end(e.result); },
                   [&](const events::TurnFailed& e) { end(e.result); },
                   [&](const events::TurnTimedOut& e) { end(e.result); },
                   [&](const events::TurnCancelled& e) { end(e.result); }, [](const auto&) {}},
             event.body);
  return has_ended_;
}

/// Calls of the client's tools are the answer. For other steps the format has no place.
void ChatCodec::take_wait(const std::vector<ParkedStep>& pending, std::string& out) {
  out_ = &out;
  JsonArray calls;
  for (const ParkedStep& step : pending) {
    const bool is_own = !step.id.str().contains('/') && (step.session.empty() || step.session == run_);
    if (!is_own || !head_.tools.contains(step.tool)) continue;
    calls.emplace_back(
        JsonObject{{"id", ExternalCallId{run_, step.id}.text()},
                   {"type", "function"},
                   {"function", JsonObject{{"name", step.tool}, {"arguments", step.arguments}}}});
  }
  if (!calls.empty()) return end_with("tool_calls", text_, std::move(calls), usage_);
  fail_with(problem(409, make_error(ErrorCode::kPolicy, ErrorKind::kAwaitingUser,
                                    "the run waits for a person to decide a step; " + run_.str())));
}

void ChatCodec::take_error(const Error& error, std::string& out) {
  out_ = &out;
  fail_with(problem(error));
}

void ChatCodec::fail_with(const HttpAnswer& problem) {
  answer_ = openai_error(problem);
  std::string text = answer_.body;
  text.pop_back();  // the line end
  out_->append("data: " + text + "\n\ndata: [DONE]\n\n");
  has_ended_ = true;
}

void ChatCodec::end(const AgentResult& result) {
  if (!result.success && result.error) return fail_with(problem(*result.error));
  // A written plan has an answer that no model wrote.
  if (!has_text_ && !result.text.empty()) delta(JsonObject{{"content", result.text}}, nullptr);
  const bool is_stop = result.success || result.reason == StopReason::kCancelled;
  end_with(is_stop ? "stop" : "length", result.text, {}, result.usage + result.usage_children);
}

void ChatCodec::end_with(std::string_view finish, const std::string& text, JsonArray calls,
                         const Usage& usage) {
  JsonObject message{{"role", "assistant"}, {"content", text}, {"refusal", nullptr}};
  if (!calls.empty()) message["tool_calls"] = calls;
  JsonObject whole = head_json("chat.completion");
  whole["choices"] = JsonArray{JsonObject{
      {"index", 0}, {"message", std::move(message)}, {"logprobs", nullptr}, {"finish_reason", finish}}};
  whole["usage"] = chat_usage(usage);
  answer_ = json_answer(whole);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    JsonObject call = calls[i].get_object();
    call["index"] = i;
    delta(JsonObject{{"tool_calls", JsonArray{std::move(call)}}}, nullptr);
  }
  delta(JsonObject{}, Json(finish));
  if (head_.with_usage) chunk(JsonArray{}, chat_usage(usage));
  out_->append("data: [DONE]\n\n");
  has_ended_ = true;
}

// ---- chunks

void ChatCodec::delta(JsonObject delta, Json finish) {
  if (finish.is_null() && !std::exchange(has_delta_, true)) delta["role"] = "assistant";
  chunk(
      JsonArray{JsonObject{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish)}}},
      nullptr);
}

void ChatCodec::chunk(JsonArray choices, Json usage) {
  JsonObject json = head_json("chat.completion.chunk");
  json["choices"] = std::move(choices);
  if (head_.with_usage) json["usage"] = std::move(usage);
  out_->append("data: ");
  append_json(*out_, json);
  out_->append("\n\n");
}

JsonObject ChatCodec::head_json(const char* object) const {
  return JsonObject{{"id", "chatcmpl-" + run_.str()},
                    {"object", object},
                    {"created", head_.created},
                    {"model", head_.model}};
}

}  // namespace praxis::server
