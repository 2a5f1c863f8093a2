#include "tui/answer_text.hpp"

#include <utility>

namespace praxis::tui {

std::string AnswerText::feed(std::string_view piece) {
  if (fed_.empty() && !piece.empty()) renderer_ = make_ ? make_(columns_) : nullptr;
  fed_ += piece;
  if (renderer_) return renderer_->feed(piece);
  line_ += filter_.feed(piece);
  const auto end = line_.rfind('\n');
  if (end == std::string::npos) return "";
  std::string complete = line_.substr(0, end + 1);
  line_.erase(0, end + 1);
  return complete;
}

std::string AnswerText::finish() {
  fed_.clear();
  if (renderer_) return std::exchange(renderer_, nullptr)->finish();
  line_ += filter_.finish();
  std::string rest = std::exchange(line_, {});
  if (!rest.empty()) rest += '\n';
  return rest;
}

}  // namespace praxis::tui
