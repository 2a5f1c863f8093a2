// Parsing JSON texts of which each resembles the last, as the events of a token stream do.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {

/// Keeps the last value, and its text once two in a row had the same shape. The next text is compared with
/// it: where only strings and small whole numbers differ, these alone are replaced in the value. Everything
/// else goes to the parser, so that the result is always what the parser would say. Not thread-safe.
class JsonSeries {
 public:
  JsonSeries() = default;
  JsonSeries(const JsonSeries&) = delete;  // the slots point into the value
  JsonSeries& operator=(const JsonSeries&) = delete;

  /// What `parse_json` says of `text`. The value lives until the next call.
  Result<const Json*> parse(std::string_view text);
  /// Whether the last text differs from the one before at most in these values, which stand where they stood.
  bool changed_only(std::span<const Json* const> values) const;

 private:
  /// A value that may change from text to text.
  struct Slot {
    std::size_t begin, end;  ///< where in the text the number stands, or what is between a string's quotes
    Json* value;
  };
  class SlotFinder;

  bool adapt(std::string_view text);
  void learn(std::string_view text);

  std::string text_;  ///< the last one; empty: nothing was learned
  Json value_;
  std::vector<Slot> slots_;           ///< in the order of the text
  bool adapted_ = false;              ///< to the last text; otherwise it was parsed
  std::vector<const Json*> changed_;  ///< those that were replaced for it
};

}  // namespace praxis
