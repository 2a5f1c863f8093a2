// Finds the lines that match a pattern, for the `text` and `file_read` tools.
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

/// Compiles a pattern in RE2 syntax, which guarantees linear time. Error `kInput` states what is invalid.
Result<std::shared_ptr<const re2::RE2>> compile_pattern(const std::string& pattern);

class LineSearch {
 public:
  /// Error as `compile_pattern`.
  static Result<LineSearch> compile(const std::string& pattern, std::size_t limit);

  /// Records the line if it matches, cut to a bounded length. `file` may be empty.
  void look_at(std::string_view file, std::size_t number, std::string_view line);
  /// Whether no further line will be recorded.
  bool full() const { return matches_.size() >= limit_; }
  /// `file:number: line` per match, and the value `{matches: [{file?, line, text}]}`.
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
