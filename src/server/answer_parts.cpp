#include "server/answer_parts.hpp"

namespace praxis::server {

void AnswerParts::take(const Event& event) {
  std::visit(match{[&](const events::StepStarted&) {
                     close();
                     restart();
                   },
                   [&](const events::TextDelta& e) { piece(PartKind::kText, e.item, e.text); },
                   [&](const events::ReasoningDelta& e) { piece(PartKind::kReasoning, e.item, e.text); },
                   [&](const events::AttemptSuperseded&) { holds_ = !parts_.empty(); },
                   [&](const events::AssistantText& e) { whole(PartKind::kText, e.text); },
                   [&](const events::AssistantReasoning& e) { whole(PartKind::kReasoning, e.text); },
                   [](const auto&) {}},
             event.body);
}

void AnswerParts::restart() {
  parts_.clear();
  whole_ = 0;
  is_open_ = holds_ = false;
}

void AnswerParts::close() {
  if (!is_open_) return;
  is_open_ = false;
  write_(PartStep::kEnd, parts_.back().kind, parts_.back().sent);
}

void AnswerParts::begin(PartKind kind, std::uint32_t item) {
  close();
  parts_.push_back({kind, item, {}});
  is_open_ = true;
  write_(PartStep::kBegin, kind, {});
}

void AnswerParts::piece(PartKind kind, std::uint32_t item, const std::string& text) {
  if (holds_ || text.empty()) return;
  if (!is_open_ || parts_.back().kind != kind || parts_.back().item != item) begin(kind, item);
  parts_.back().sent += text;
  write_(PartStep::kPiece, kind, text);
}

void AnswerParts::whole(PartKind kind, const std::string& text) {
  const bool was_begun = whole_ < parts_.size() && parts_[whole_].kind == kind;
  if (!was_begun) {
    if (text.empty()) return;
    begin(kind, 0);
  }
  const bool is_last = whole_ + 1 >= parts_.size();
  Part& part = parts_[was_begun ? whole_ : parts_.size() - 1];
  ++whole_;
  if (!is_open_ || (was_begun && !is_last)) return;  // it ended when the next one began
  if (text.size() > part.sent.size() && text.starts_with(part.sent))
    write_(PartStep::kPiece, kind, text.substr(part.sent.size()));
  part.sent = text;
  close();
}

}  // namespace praxis::server
