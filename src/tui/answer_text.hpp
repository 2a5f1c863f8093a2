// The text of an answer while it arrives: what is complete is printed, what is not stays in the live region.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/visible_text.hpp"

namespace praxis::tui {

class AnswerText {
 public:
  /// Takes any bytes; returns complete lines, safe to print.
  std::string feed(std::string_view piece);
  /// Returns the rest as complete lines, and is ready for another answer.
  std::string finish();
  /// What was fed and not returned yet, safe to display.
  const std::string& tail() const { return line_; }
  /// All that was fed since the last `finish`.
  const std::string& fed() const { return fed_; }

 private:
  TextFilter filter_;
  std::string line_, fed_;
};

}  // namespace praxis::tui
