#include "server/a2a_codec.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "server/client_conversation.hpp"
#include "server/problem.hpp"

namespace praxis::server {
namespace {

constexpr char kBetweenRunAndTurn = '~';  // occurs in no id of a session
constexpr std::string_view kAnswerArtifact = "answer";

Json text_part(const std::string& text) { return JsonObject{{"text", text}}; }

/// What a client needs to decide a step.
Json step_json(const SessionId& run, const ParkedStep& step) {
  JsonObject json{{"step", client_step_id(run, step)}, {"kind", to_string(step.kind)}};
  if (!step.prompt.empty()) json["prompt"] = step.prompt;
  if (!step.tool.empty()) {
    json["tool"] = step.tool;
    json["arguments"] = parse_json(step.arguments).value_or(Json(step.arguments));
  }
  if (!step.schema.is_null()) json["schema"] = step.schema;
  if (step.expires.value != 0) json["expires"] = to_iso8601(step.expires);
  JsonArray decisions;
  for (const ApprovalVerb verb : allowed_approvals(step.kind)) decisions.emplace_back(to_string(verb));
  json["decisions"] = std::move(decisions);
  return json;
}

std::string question_of(const ParkedStep& step) {
  if (step.tool.empty()) return step.prompt;
  const std::string call = "The agent asks before it calls " + step.tool + ".";
  return step.prompt.empty() ? call : call + " " + step.prompt;
}

std::string_view waiting_state(const std::vector<ParkedStep>& pending) {
  const bool needs_access = std::ranges::all_of(
      pending, [](const ParkedStep& step) { return step.kind == ParkKind::kAuthorisation; });
  return needs_access ? "TASK_STATE_AUTH_REQUIRED" : "TASK_STATE_INPUT_REQUIRED";
}

}  // namespace

std::string A2aTaskId::text() const { return run.str() + kBetweenRunAndTurn + turn.str(); }

std::optional<A2aTaskId> A2aTaskId::parse(std::string_view text) {
  const std::size_t at = text.find(kBetweenRunAndTurn);
  if (at == 0 || at == text.npos || at + 1 == text.size()) return std::nullopt;
  return A2aTaskId{SessionId(std::string(text.substr(0, at))), TurnId(std::string(text.substr(at + 1)))};
}

HttpAnswer A2aForm::answer(Json result) const {
  if (is_rpc) return json_answer(JsonObject{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
  HttpAnswer sent = json_answer(result);
  sent.headers.front().second = "application/a2a+json";
  return sent;
}

std::string A2aForm::event(const Json& data) const {
  if (is_lines) return to_json_text(data) + "\n";
  std::string text = "data: ";
  append_json(text, is_rpc ? Json(JsonObject{{"jsonrpc", "2.0"}, {"id", id}, {"result", data}}) : data);
  return text += "\n\n";
}

A2aCodec::A2aCodec(A2aTaskId id, A2aForm form)
    : id_(std::move(id)),
      form_(std::move(form)),
      parts_([this](PartStep step, PartKind kind, const std::string& text) { on_part(step, kind, text); }) {}

// ---- where it begins and ends

std::string A2aCodec::speak() {
  speaks_ = true;
  std::string out;
  out_ = &out;
  if (!has_begun_) return out;
  was_sent_ = holds_ = false;  // the task has the text so far
  held_.clear();
  emit("task", task(form_.history));
  if (!answer_.empty()) was_sent_ = true;
  return out;
}

bool A2aCodec::take(const Event& event, std::string& out) {
  if (has_ended_) return true;
  out_ = &out;
  if (event.agent.id != id_.run) return false;
  if (const auto* started = std::get_if<events::TurnStarted>(&event.body); started != nullptr) {
    in_turn_ = event.turn == id_.turn;
    return false;
  }
  if (const auto* added = std::get_if<events::MessageAdded>(&event.body)) on_message(*added);
  if (!in_turn_) return false;
  if (!has_begun_) {
    has_begun_ = true;
    set_state("TASK_STATE_WORKING", event.time);
    emit("task", task(form_.history));
    return false;
  }
  on_own(event);
  return has_ended_;
}

void A2aCodec::take_wait(const std::vector<ParkedStep>& pending, std::string& out) {
  out_ = &out;
  parts_.close();
  give_piece(true);
  JsonArray parts, steps;
  for (const ParkedStep& step : pending) {
    parts.push_back(text_part(question_of(step)));
    steps.push_back(step_json(id_.run, step));
  }
  parts.push_back(
      JsonObject{{"data", JsonObject{{"steps", std::move(steps)}}}, {"mediaType", "application/json"}});
  set_state(waiting_state(pending), time_, agent_message(std::move(parts)));
  emit("statusUpdate", JsonObject{{"status", status_json()}});
}

void A2aCodec::take_error(const Error& error, std::string& out) {
  out_ = &out;
  if (!has_begun_) {
    has_begun_ = true;
    emit("task", task(form_.history));
  }
  has_ended_ = true;
  set_state("TASK_STATE_FAILED", time_, agent_message({text_part(error.message)}));
  emit("statusUpdate", JsonObject{{"status", status_json()}});
}

void A2aCodec::end(const AgentResult& result) {
  parts_.close();
  has_ended_ = true;
  const UnixMillis time = result.finished_at;
  if (result.success) {
    const bool is_said = !called_ && answer_ == result.text;
    called_ = false;
    if (is_said) {
      give_piece(true);
    } else if (!result.text.empty()) {  // the answer of a written plan, which no model wrote
      was_sent_ = false;
      answer_ = held_ = result.text;
      holds_ = true;
      give_piece(true);
    }
    set_state("TASK_STATE_COMPLETED", time);
  } else {
    give_piece(true);
    std::string why = result.error ? result.error->message : "";
    if (why.empty())
      why = "The turn ended: " + std::string(to_string(result.reason.value_or(StopReason::kModelFailed)));
    set_state(result.aborted() ? "TASK_STATE_CANCELED" : "TASK_STATE_FAILED", time,
              agent_message({text_part(why)}));
  }
  emit("statusUpdate", JsonObject{{"status", status_json()}});
}

// ---- what happens in it

void A2aCodec::on_message(const events::MessageAdded& added) {
  if (!added.message) return;
  const Json& kept = json_at(added.message->metadata, kA2aKey);
  if (std::string context = json_string(kept, "context"); !context.empty()) context_ = std::move(context);
  const bool is_said = added.source == MessageSource::kUser || added.source == MessageSource::kSteer ||
                       added.source == MessageSource::kQueue;
  if (!in_turn_ || !is_said) return;
  JsonObject message{
      {"messageId", json_string(kept, "message", id_.run.str() + "/" + added.message->id.str())},
      {"contextId", context()},
      {"taskId", id_.text()},
      {"role", "ROLE_USER"},
      {"parts", JsonArray{text_part(added.message->text())}}};
  history_.emplace_back(std::move(message));
}

void A2aCodec::on_own(const Event& event) {
  parts_.take(event);
  std::visit(match{[&](const events::StepStarted&) {
                     answer_.clear();
                     held_.clear();
                     holds_ = was_sent_ = called_ = false;
                   },
                   [&](const events::ToolCalled& call) {
                     parts_.close();
                     give_piece(true);
                     if (!std::exchange(called_, true) && !answer_.empty())
                       history_.push_back(agent_message({text_part(answer_)}));
                     set_state("TASK_STATE_WORKING", event.time,
                               agent_message({text_part("The agent calls " + call.name + ".")}));
                     emit("statusUpdate", JsonObject{{"status", status_json()}});
                   },
                   [&](const events::StepParked&) { time_ = event.time; },
                   [&](const events::StepDecided&) {
                     set_state("TASK_STATE_WORKING", event.time);
                     emit("statusUpdate", JsonObject{{"status", status_json()}});
                   },
                   [&](const events::TurnCompleted& e) { end(e.result); },
                   [&](const events::TurnFailed& e) { end(e.result); },
                   [&](const events::TurnTimedOut& e) { end(e.result); },
                   [&](const events::TurnCancelled& e) { end(e.result); }, [](const auto&) {}},
             event.body);
}

void A2aCodec::on_part(PartStep step, PartKind kind, const std::string& text) {
  if (kind != PartKind::kText || step != PartStep::kPiece) return;
  give_piece(false);
  answer_ += text;
  held_ = text;
  holds_ = true;
}

/// Writes the piece that is held. The first one of a step takes the place of what was the answer before.
void A2aCodec::give_piece(bool is_last) {
  if (!std::exchange(holds_, false)) return;
  emit("artifactUpdate",
       JsonObject{{"artifact", artifact_json(held_)}, {"append", was_sent_}, {"lastChunk", is_last}});
  was_sent_ = true;
  held_.clear();
}

void A2aCodec::set_state(std::string_view state, UnixMillis time, Json message) {
  state_ = state;
  if (time.value != 0) time_ = time;
  message_ = std::move(message);
}

// ---- the objects of the protocol

std::string A2aCodec::context() const { return context_.empty() ? id_.run.str() : context_; }

Json A2aCodec::agent_message(JsonArray parts) {
  return JsonObject{{"messageId", id_.text() + "~m" + std::to_string(++messages_)},
                    {"contextId", context()},
                    {"taskId", id_.text()},
                    {"role", "ROLE_AGENT"},
                    {"parts", std::move(parts)}};
}

Json A2aCodec::status_json() const {
  JsonObject status{{"state", state_}};
  if (!message_.is_null()) status["message"] = message_;
  if (time_.value != 0) status["timestamp"] = to_iso8601(time_);
  return status;
}

Json A2aCodec::artifact_json(const std::string& text) const {
  return JsonObject{
      {"artifactId", kAnswerArtifact}, {"name", kAnswerArtifact}, {"parts", JsonArray{text_part(text)}}};
}

Json A2aCodec::task(std::optional<std::size_t> history, bool with_artifacts) const {
  JsonObject task{{"id", id_.text()}, {"contextId", context()}, {"status", status_json()}};
  if (with_artifacts && !called_ && !answer_.empty()) task["artifacts"] = JsonArray{artifact_json(answer_)};
  const std::size_t count = std::min(history.value_or(history_.size()), history_.size());
  if (count > 0)
    task["history"] = JsonArray(history_.end() - static_cast<std::ptrdiff_t>(count), history_.end());
  return task;
}

HttpAnswer A2aCodec::answer() const {
  Json shown = task(form_.history);
  return form_.answer(form_.is_bare ? std::move(shown) : Json(JsonObject{{"task", std::move(shown)}}));
}

void A2aCodec::emit(std::string_view kind, Json payload) {
  if (!speaks_) return;
  if (kind != "task") {
    payload.get_object()["taskId"] = id_.text();
    payload.get_object()["contextId"] = context();
  }
  out_->append(form_.event(JsonObject{{kind, std::move(payload)}}));
}

}  // namespace praxis::server
