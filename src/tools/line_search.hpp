// Lines that match a pattern, as the `text` and `file_read` tools report them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "praxis/tools/tool.hpp"

namespace re2 {
class RE2;
}

namespace praxis {

/// A pattern in RE2 syntax, so that none takes more than linear time. Error `kInput` says what is wrong.
Result<std::shared_ptr<const re2::RE2>> compile_pattern(const std::string& pattern);

class LineSearch {
 public:
  /// Error as `compile_pattern`.
  static Result<LineSearch> compile(const std::string& pattern, std::size_t limit);

  /// Notes the line, cut to a bounded length, when it matches. `file` may be empty.
  void look_at(std::string_view file, std::size_t number, std::string_view line);
  /// Whether no more lines will be noted.
  bool full() const { return matches_.size() >= limit_; }
  /// `file:number: line` for each match; value `{matches: [{file?, line, text}]}`.
  ToolOutput output() &&;

 private:
  LineSearch(std::shared_ptr<const re2::RE2> pattern, std::size_t limit)
      : pattern_(std::move(pattern)), limit_(limit) {}

  std::shared_ptr<const re2::RE2> pattern_;
  std::size_t limit_;
  std::string text_;
  JsonArray matches_;
};

}  // namespace praxis
