#include "cli/answer_pieces.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace praxis::cli {
namespace {

/// Another event at the place of `event`.
Json event_beside(const Json& event, std::string_view name) {
  JsonObject other;
  for (const auto& [key, value] : event.get_object()) {
    if (key != "text" && key != "item") other[key] = value;
  }
  other["event"] = name;
  return other;
}

Json piece_beside(const Json& event, std::string_view text) {
  Json piece = event_beside(event, "text.delta");
  piece.get_object()["text"] = text;
  piece.get_object()["item"] = 0;
  return piece;
}

}  // namespace

void AnswerPieces::reconnected() {
  for (auto& [session, answer] : answers_) answer.comes_whole = true;
}

std::vector<Json> AnswerPieces::take(Json event) {
  if (!event.is_object()) return {};
  const std::string session = json_string(event, "session");
  const std::string name = json_string(event, "event");
  const std::int64_t seq = json_int(event, "seq");
  std::int64_t& seen = seen_[session];
  if (name.ends_with(".delta") && seq < seen) return {};
  if (!name.ends_with(".delta")) seen = std::max(seen, seq);
  if (name == "text.delta") return take_piece(answers_[session], std::move(event));
  if (name == "assistant.text" && session == shown_) return take_text(answers_[session], std::move(event));
  if (name == "model.responded" || name == "model.failed" || name == "attempt.superseded" ||
      name.starts_with("turn."))
    answers_.erase(session);
  return {std::move(event)};
}

std::vector<Json> AnswerPieces::take_piece(Answer& answer, Json event) {
  const std::string text = json_string(event, "text");
  if (!std::exchange(answer.comes_whole, false)) {
    answer.text += text;
    return {std::move(event)};
  }
  if (!text.starts_with(answer.text)) {
    const bool had_pieces = !std::exchange(answer.text, text).empty();
    answer.complete = 0;
    if (!had_pieces) return {std::move(event)};
    Json superseded = event_beside(event, "attempt.superseded");
    return {std::move(superseded), std::move(event)};
  }
  const std::string added = text.substr(answer.text.size());
  answer.text = text;
  if (added.empty()) return {};
  event.get_object()["text"] = added;
  return {std::move(event)};
}

std::vector<Json> AnswerPieces::take_text(Answer& answer, Json event) {
  const std::string text = json_string(event, "text");
  const std::string_view open = std::string_view(answer.text).substr(answer.complete);
  std::vector<Json> events;
  if (open.starts_with(text)) {
    answer.complete += text.size();
  } else if (text.starts_with(open)) {
    events.push_back(piece_beside(event, std::string_view(text).substr(open.size())));
    answer.text += text.substr(open.size());
    answer.complete = answer.text.size();
  } else {
    events.push_back(event_beside(event, "attempt.superseded"));
    events.push_back(piece_beside(event, text));
    answer.text = text;
    answer.complete = text.size();
  }
  events.push_back(std::move(event));
  return events;
}

}  // namespace praxis::cli
