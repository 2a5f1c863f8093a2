// Parses a series of JSON texts in which each resembles the last, such as the events of a token stream.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {

/// Keeps the last value, and also its text once two in a row had the same shape. Compares the next text with
/// it: where only strings and small integers differ, replaces just these in the value. Every other text goes
/// to the parser, so the result always equals the parser's. Not thread-safe.
class JsonSeries {
 public:
  JsonSeries() = default;
  JsonSeries(const JsonSeries&) = delete;  // the slots point into the value
  JsonSeries& operator=(const JsonSeries&) = delete;

  /// Returns what `parse_json` returns for `text`. The value is valid until the next call.
  Result<const Json*> parse(std::string_view text);
  /// Whether the last text differs from the one before at most in these values, each at its old place.
  bool changed_only(std::span<const Json* const> values) const;

 private:
  /// A value that may change from text to text.
  struct Slot {
    /// The number's place in the text, or the place of a string's contents without the quotes.
    std::size_t begin, end;
    Json* value;
  };
  class SlotFinder;

  bool adapt(std::string_view text);
  void learn(std::string_view text);

  std::string text_;  ///< the last one; empty if none was learned
  Json value_;
  std::vector<Slot> slots_;           ///< in the order of the text
  bool adapted_ = false;              ///< whether the last text was adapted; otherwise it was parsed
  std::vector<const Json*> changed_;  ///< the values replaced for the last text
};

}  // namespace praxis
