// The text of an answer while it arrives: what is complete is printed, what is not stays in the live region.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/visible_text.hpp"

namespace praxis::tui {

/// Renders text that arrives in pieces, such as Markdown.
class TextRenderer {
 public:
  TextRenderer() = default;
  virtual ~TextRenderer() = default;
  TextRenderer(const TextRenderer&) = delete;
  TextRenderer& operator=(const TextRenderer&) = delete;

  /// Takes any bytes; returns complete lines, safe to print.
  virtual std::string feed(std::string_view piece) = 0;
  /// Returns the rest as complete lines, and is ready for another text.
  virtual std::string finish() = 0;
  /// What was fed and not returned yet, safe to display.
  virtual std::string tail() const = 0;
};
/// Makes a renderer for a screen of `columns`.
using MakeRenderer = std::function<std::unique_ptr<TextRenderer>(std::size_t columns)>;

class AnswerText {
 public:
  /// Null: the text is shown as it was written.
  explicit AnswerText(MakeRenderer make) : make_(std::move(make)) {}

  /// The width of the screen for the next answer.
  void set_columns(std::size_t columns) { columns_ = columns; }
  /// Takes any bytes; returns complete lines, safe to print.
  std::string feed(std::string_view piece);
  /// Returns the rest as complete lines, and is ready for another answer.
  std::string finish();
  /// What was fed and not returned yet, safe to display.
  std::string tail() const { return renderer_ ? renderer_->tail() : line_; }
  /// All that was fed since the last `finish`.
  const std::string& fed() const { return fed_; }

 private:
  MakeRenderer make_;
  std::unique_ptr<TextRenderer> renderer_;  ///< of the answer that is arriving
  std::size_t columns_ = 80;
  TextFilter filter_;
  std::string line_, fed_;
};

}  // namespace praxis::tui
