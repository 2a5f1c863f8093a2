#include "server/responses_codec.hpp"

#include <algorithm>
#include <utility>

#include "server/external_calls.hpp"
#include "server/problem.hpp"

namespace praxis::server {
namespace {

/// The name of us as a server of tools, where the format wants one.
constexpr std::string_view kServerLabel = "praxis";

std::int64_t unix_seconds(UnixMillis time) { return time.value / 1000; }

/// The end of the first `bytes` bytes of a text, or of the character that they cut.
std::size_t after_bytes(std::string_view text, std::size_t bytes) {
  std::size_t at = std::min(bytes, text.size());
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) ++at;
  return at;
}

bool is_limit(StopReason reason) {
  switch (reason) {
    case StopReason::kOutputLimit:
    case StopReason::kTokenLimit:
    case StopReason::kCostLimit:
    case StopReason::kContextLimit:
      return true;
    default:
      return false;
  }
}

std::string_view string_in(const JsonObject& object, std::string_view key) {
  const auto& text = object.at(key).as_string();
  return {text.data(), text.size()};
}

JsonObject output_text(const std::string& text) {
  return JsonObject{
      {"type", "output_text"}, {"text", text}, {"annotations", JsonArray{}}, {"logprobs", JsonArray{}}};
}

}  // namespace

Json responses_usage(const Usage& usage) {
  return JsonObject{{"input_tokens", usage.input},
                    {"input_tokens_details", JsonObject{{"cached_tokens", usage.cache_read},
                                                        {"cache_write_tokens", usage.cache_write}}},
                    {"output_tokens", usage.output},
                    {"output_tokens_details", JsonObject{{"reasoning_tokens", usage.reasoning}}},
                    {"total_tokens", usage.total()}};
}

ResponseCodec::ResponseCodec(ResponseId id, std::int64_t after)
    : id_(std::move(id)),
      after_(after),
      parts_([this](PartStep step, PartKind kind, const std::string& text) { on_part(step, kind, text); }) {}

// ---- where it begins and ends

bool ResponseCodec::take(const Event& event, std::string& out) {
  if (has_ended_) return true;
  out_ = &out;
  const bool is_own = event.agent.id == id_.run;
  if (is_own) {
    if (const auto* started = std::get_if<events::TurnStarted>(&event.body)) {
      in_turn_ = event.turn == id_.turn;
      if (in_turn_ && started->config) agent_ = started->config->id;
    }
    if (!in_turn_) return false;
    const auto* said = std::get_if<events::MessageAdded>(&event.body);
    if (said != nullptr && said->source == MessageSource::kUser && request_.is_null() && said->message)
      request_ = json_at(said->message->metadata, kResponsesKey);
  }
  if (!in_turn_) return false;
  if (!has_begun_ && begins_with(event)) begin(event.time, out);
  if (!has_begun_ || !is_own) return false;
  if (!std::holds_alternative<events::StepDecided>(event.body)) has_content_ = true;
  on_own(event);
  return has_ended_;
}

bool ResponseCodec::begins_with(const Event& event) const {
  if (id_.decided.empty())
    return event.agent.id == id_.run && !std::holds_alternative<events::TurnStarted>(event.body);
  if (begins_at_) return event.time >= *begins_at_;
  const auto* decided = std::get_if<events::StepDecided>(&event.body);
  return decided != nullptr && event.agent.id == id_.decided_in && decided->decision.park == id_.decided;
}

void ResponseCodec::begin(UnixMillis time, std::string& out) {
  out_ = &out;
  has_begun_ = true;
  status_ = "in_progress";
  created_ = time;
  for (const char* type : {"response.created", "response.in_progress"})
    emit(JsonObject{{"type", type}, {"response", response()}});
}

bool ResponseCodec::take_decision(const ParkId& decided, const std::vector<ParkedStep>& pending,
                                  std::string& out) {
  if (!has_content_) return false;
  ended_by_ = decided;
  take_wait(pending, out);
  return true;
}

void ResponseCodec::take_wait(const std::vector<ParkedStep>& pending, std::string& out) {
  out_ = &out;
  if (!has_begun_) begin(begins_at_.value_or(UnixMillis{}), out);
  parts_.close();
  end_calls("incomplete");
  for (const ParkedStep& step : pending) is_of_client(step) ? call_client(step) : ask(step);
  end("response.completed", "completed", created_);
}

bool ResponseCodec::is_of_client(const ParkedStep& step) const {
  const auto* tools = json_at(request_, "tools").if_array();
  return tools != nullptr && ApprovalRequestId::of(id_.run, step).session == id_.run &&
         std::ranges::any_of(*tools, [&](const Json& tool) { return json_text(tool, "name") == step.tool; });
}

void ResponseCodec::ask(const ParkedStep& step) {
  const bool asks = step.tool.empty();
  const JsonObject question{{"question", step.prompt}};
  finish_item(add_item(JsonObject{{"type", "mcp_approval_request"},
                                  {"id", ApprovalRequestId::of(id_.run, step).text()},
                                  {"server_label", kServerLabel},
                                  {"name", asks ? "ask_user" : step.tool},
                                  {"arguments", asks ? to_json_text(question) : step.arguments}}));
}

void ResponseCodec::call_client(const ParkedStep& step) {
  const std::size_t index = add_item(
      JsonObject{{"type", "function_call"},
                 {"id", "fc_" + id_.text().substr(5) + "~" + std::to_string(items_.size())},
                 {"call_id", ExternalCallId{id_.run, ApprovalRequestId::of(id_.run, step).step}.text()},
                 {"name", step.tool},
                 {"arguments", ""},
                 {"status", "in_progress"}});
  for (const bool is_done : {false, true}) {
    JsonObject event = about(
        is_done ? "response.function_call_arguments.done" : "response.function_call_arguments.delta", index);
    event[is_done ? "arguments" : "delta"] = step.arguments;
    emit(std::move(event));
  }
  items_[index]["arguments"] = step.arguments;
  items_[index]["status"] = "completed";
  finish_item(index);
}

void ResponseCodec::take_error(const Error& error, std::string& out) {
  out_ = &out;
  if (!has_begun_) begin(UnixMillis{}, out);
  error_ = JsonObject{{"code", "server_error"}, {"message", error.message}};
  parts_.close();
  end("response.failed", "failed", created_);
}

void ResponseCodec::end(std::string_view type, std::string_view status, UnixMillis time) {
  has_ended_ = true;
  status_ = status;
  ended_ = time;
  emit(JsonObject{{"type", type}, {"response", response()}});
}

void ResponseCodec::end_with(const AgentResult& result, UnixMillis time) {
  parts_.close();
  end_calls("incomplete");
  if (result.success) {
    // A written plan has an answer that no model wrote.
    const bool is_said = std::ranges::any_of(items_, [&](const JsonObject& item) {
      if (string_in(item, "type") != "message") return false;
      return string_in(item.at("content").at(0).as_object(), "text") == result.text;
    });
    if (!is_said && !result.text.empty()) {
      for (const PartStep step : {PartStep::kBegin, PartStep::kPiece, PartStep::kEnd})
        on_part(step, PartKind::kText, result.text);
    }
    return end("response.completed", "completed", time);
  }
  const StopReason reason = result.reason.value_or(StopReason::kModelFailed);
  if (reason == StopReason::kCancelled) return end("response.incomplete", "cancelled", time);
  if (is_limit(reason) || reason == StopReason::kRefused) {
    incomplete_ =
        JsonObject{{"reason", reason == StopReason::kRefused ? "content_filter" : "max_output_tokens"}};
    return end("response.incomplete", "incomplete", time);
  }
  const bool is_rate = result.error && result.error->kind() == ErrorKind::kRateLimit;
  error_ = JsonObject{{"code", is_rate ? "rate_limit_exceeded" : "server_error"},
                      {"message", result.error ? result.error->message : std::string(to_string(reason))}};
  end("response.failed", "failed", time);
}

// ---- what happens in it

void ResponseCodec::on_own(const Event& event) {
  parts_.take(event);
  std::visit(
      match{[&](const events::ModelResponded& e) { usage_ += e.usage; },
            [&](const events::ChildSettled& e) { below_[e.child] = e.usage; },
            [&](const events::ToolStarted& e) { call_started(e); },
            [&](const events::ToolCompleted& e) { call_ended(e.call, &e.text, "completed"); },
            [&](const events::ToolFailed& e) {
              if (const auto call = calls_.find(e.call); call != calls_.end())
                call->second.error = e.error.message;
            },
            [&](const events::ToolTimedOut& e) {
              if (const auto call = calls_.find(e.call); call != calls_.end())
                call->second.error = "the call ran out of time";
            },
            [&](const events::StepCompleted&) { end_calls("failed"); },
            [&](const events::TurnCompleted& e) { end_with(e.result, event.time); },
            [&](const events::TurnFailed& e) { end_with(e.result, event.time); },
            [&](const events::TurnTimedOut& e) { end_with(e.result, event.time); },
            [&](const events::TurnCancelled& e) { end_with(e.result, event.time); }, [](const auto&) {}},
      event.body);
}

void ResponseCodec::on_part(PartStep step, PartKind kind, const std::string& text) {
  const bool is_text = kind == PartKind::kText;
  const JsonObject part =
      is_text ? output_text(step == PartStep::kEnd ? text : "")
              : JsonObject{{"type", "reasoning_text"}, {"text", step == PartStep::kEnd ? text : ""}};
  if (step == PartStep::kBegin) {
    JsonObject item{
        {"type", is_text ? "message" : "reasoning"},
        {"id", (is_text ? "msg_" : "rs_") + id_.text().substr(5) + "~" + std::to_string(items_.size())},
        {"status", "in_progress"}};
    if (is_text) item["role"] = "assistant";
    if (!is_text) item["summary"] = JsonArray{};
    item["content"] = JsonArray{};
    part_ = add_item(std::move(item));
    JsonObject added = about("response.content_part.added", part_);
    added["content_index"] = 0;
    added["part"] = part;
    emit(std::move(added));
    part_began_ = next_;
    return;
  }
  const std::string name = is_text ? "response.output_text" : "response.reasoning_text";
  JsonObject event = about(name + (step == PartStep::kPiece ? ".delta" : ".done"), part_);
  event["content_index"] = 0;
  if (is_text) event["logprobs"] = JsonArray{};
  if (step == PartStep::kPiece) return piece(std::move(event), text);
  // The same number in whichever pieces the text came.
  next_ = std::max(next_, part_began_ + static_cast<std::int64_t>(text.size()));
  items_[part_]["content"] = JsonArray{part};
  event["text"] = text;
  emit(std::move(event));
  JsonObject done = about("response.content_part.done", part_);
  done["content_index"] = 0;
  done["part"] = part;
  emit(std::move(done));
  items_[part_]["status"] = "completed";
  finish_item(part_);
}

/// A piece takes as many numbers as it has bytes and carries the last of them. So a client that comes back
/// gets the rest, and numbers are the same however the text was divided.
void ResponseCodec::piece(JsonObject event, const std::string& text) {
  const std::int64_t first = next_;
  next_ += static_cast<std::int64_t>(text.size());
  if (after_ >= next_ - 1) return;
  const std::size_t had = after_ < first ? 0 : static_cast<std::size_t>(after_ - first + 1);
  event["delta"] = text.substr(after_bytes(text, had));
  event["sequence_number"] = next_ - 1;
  write(event);
}

// ---- calls of tools, which in this format are calls of a server

void ResponseCodec::call_started(const events::ToolStarted& call) {
  if (calls_.contains(call.call)) return;  // another attempt
  const std::size_t index =
      add_item(JsonObject{{"type", "mcp_call"},
                          {"id", "mcp_" + id_.text().substr(5) + "~" + std::to_string(items_.size())},
                          {"server_label", kServerLabel},
                          {"name", call.name},
                          {"arguments", ""},
                          {"approval_request_id", nullptr},
                          {"output", nullptr},
                          {"error", nullptr},
                          {"status", "in_progress"}});
  calls_.emplace(call.call, Call{index, {}});
  emit(about("response.mcp_call.in_progress", index));
  items_[index]["arguments"] = call.arguments;
  for (const bool is_done : {false, true}) {
    JsonObject event =
        about(is_done ? "response.mcp_call_arguments.done" : "response.mcp_call_arguments.delta", index);
    event[is_done ? "arguments" : "delta"] = call.arguments;
    emit(std::move(event));
  }
}

void ResponseCodec::call_ended(const CallId& call, const std::string* output, std::string_view status) {
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  const Call ended = found->second;
  calls_.erase(found);
  JsonObject& item = items_[ended.index];
  item["status"] = status;
  if (output != nullptr) item["output"] = *output;
  if (!ended.error.empty() && output == nullptr) {
    item["error"] = JsonObject{{"type", "mcp_tool_execution_error"},
                               {"content", JsonArray{JsonObject{{"type", "text"}, {"text", ended.error}}}}};
  }
  emit(about(output != nullptr ? "response.mcp_call.completed" : "response.mcp_call.failed", ended.index));
  finish_item(ended.index);
}

void ResponseCodec::end_calls(std::string_view status) {
  while (!calls_.empty()) {
    const auto first = std::ranges::min_element(calls_, {}, [](const auto& c) { return c.second.index; });
    const CallId call = first->first;
    call_ended(call, nullptr, status);
  }
}

// ---- writing

std::size_t ResponseCodec::add_item(JsonObject item) {
  items_.push_back(std::move(item));
  JsonObject event{
      {"type", "response.output_item.added"}, {"output_index", items_.size() - 1}, {"item", items_.back()}};
  emit(std::move(event));
  return items_.size() - 1;
}

void ResponseCodec::finish_item(std::size_t index) {
  emit(JsonObject{{"type", "response.output_item.done"}, {"output_index", index}, {"item", items_[index]}});
}

JsonObject ResponseCodec::about(std::string_view type, std::size_t index) const {
  return JsonObject{{"type", type}, {"item_id", items_[index].at("id")}, {"output_index", index}};
}

void ResponseCodec::emit(JsonObject event) {
  event["sequence_number"] = next_;
  if (next_++ > after_) write(event);
}

void ResponseCodec::write(const JsonObject& event) {
  out_->append("event: ").append(string_in(event, "type")).append("\ndata: ");
  append_json(*out_, event);
  out_->append("\n\n");
}

JsonObject ResponseCodec::response() const {
  const auto asked = [&](const char* key, const Json& otherwise) {
    const Json& value = json_at(request_, key);
    return value.is_null() ? otherwise : value;
  };
  JsonArray output;
  for (const JsonObject& item : items_) output.emplace_back(item);
  Usage usage = usage_;
  for (const auto& [child, used] : below_) usage += used;
  Json completed = nullptr;
  if (status_ == "completed") completed = unix_seconds(ended_);
  return JsonObject{{"id", id_.text()},
                    {"object", "response"},
                    {"created_at", unix_seconds(created_)},
                    {"status", status_},
                    {"background", asked("background", false)},
                    {"completed_at", std::move(completed)},
                    {"conversation", asked("conversation", nullptr)},
                    {"error", error_},
                    {"incomplete_details", incomplete_},
                    {"instructions", asked("instructions", nullptr)},
                    {"max_output_tokens", nullptr},
                    {"max_tool_calls", asked("max_tool_calls", nullptr)},
                    {"model", asked("model", Json(agent_))},
                    {"output", std::move(output)},
                    {"parallel_tool_calls", true},
                    {"previous_response_id", asked("previous_response_id", nullptr)},
                    {"reasoning", JsonObject{{"effort", nullptr}, {"summary", nullptr}}},
                    {"store", asked("store", true)},
                    {"temperature", nullptr},
                    {"text", asked("text", JsonObject{{"format", JsonObject{{"type", "text"}}}})},
                    {"tool_choice", "auto"},
                    {"tools", asked("tools", JsonArray{})},
                    {"top_p", nullptr},
                    {"truncation", "disabled"},
                    {"usage", has_ended_ ? responses_usage(usage) : Json(nullptr)},
                    {"metadata", asked("metadata", JsonObject{})}};
}

HttpAnswer ResponseCodec::answer() const { return json_answer(response()); }

}  // namespace praxis::server
