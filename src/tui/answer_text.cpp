#include "tui/answer_text.hpp"

#include <utility>

namespace praxis::tui {

std::string AnswerText::feed(std::string_view piece) {
  fed_ += piece;
  line_ += filter_.feed(piece);
  const auto end = line_.rfind('\n');
  if (end == std::string::npos) return "";
  std::string complete = line_.substr(0, end + 1);
  line_.erase(0, end + 1);
  return complete;
}

std::string AnswerText::finish() {
  line_ += filter_.finish();
  fed_.clear();
  std::string rest = std::exchange(line_, {});
  if (!rest.empty()) rest += '\n';
  return rest;
}

}  // namespace praxis::tui
