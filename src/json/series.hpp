// Parses a series of JSON texts in which each resembles the last, such as the events of a token stream.
#pragma once

#include <cstddef>
#include <memory>
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

  // ---- the steps of `parse`, for `JsonShapes`

  /// Changes the value to that of `text` if only strings and small integers differ; else changes nothing.
  bool adapt(std::string_view text);
  /// Keeps `value`, which was parsed from `text`, and learns the text if it is the second of its shape.
  void take(Json&& value, std::string_view text);
  /// The same, and learns the text in any case.
  void begin(Json&& value, std::string_view text);
  /// Whether `value` has the keys and kinds of the value that is kept.
  bool resembles(const Json& value) const;
  const Json& value() const { return value_; }

 private:
  /// A value that may change from text to text.
  struct Slot {
    /// The number's place in the text, or the place of a string's contents without the quotes.
    std::size_t begin, end;
    Json* value;
  };
  struct Change {
    const Slot* slot;
    std::size_t end;  ///< in the new text
    Json parsed;      ///< the new value if it has escapes; else null
  };
  class SlotFinder;

  bool compare(std::string_view text);
  void learn(std::string_view text);
  static void assign(std::string_view text, Change& change);

  std::string text_;  ///< the last one; empty if none was learned
  Json value_;
  std::vector<Slot> slots_;      ///< in the order of the text
  bool adapted_ = false;         ///< whether the last text was adapted; otherwise it was parsed
  std::vector<Change> changes_;  ///< for the last text
};

/// Parses texts of a few shapes that alternate, such as the whole answers of one server: a series for each
/// shape. The result always equals the parser's. Not thread-safe.
class JsonShapes {
 public:
  /// Longer texts are for the parser alone: the last text and value of each shape are kept.
  static constexpr std::size_t kMostBytes = std::size_t{64} * 1024;

  /// Returns what `parse_json` returns for `text`. The value is valid until the next call.
  Result<const Json*> parse(std::string_view text);
  /// Names the shape of the last text.
  std::size_t shape() const { return last_; }

 private:
  static constexpr std::size_t kMost = 16;

  const Json* use(std::size_t shape);

  std::vector<std::unique_ptr<JsonSeries>> known_;
  std::vector<std::size_t> follower_;  ///< for each shape, that of the text that came after it last time
  std::size_t last_ = 0;               ///< the shape of the last text
  std::size_t oldest_ = 0;             ///< the shape to be replaced next, counted on for ever
};

}  // namespace praxis
