// Parses the JSON of answers and tolerates the encoding errors that servers make.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "json/series.hpp"
#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

/// The first bytes of `bytes`, repaired to UTF-8, for use in an error message.
std::string excerpt(std::string_view bytes);

/// Replaces invalid UTF-8 and escapes of unpaired surrogates by U+FFFD. Such text comes from servers that
/// split text at UTF-16 units, or that emit Python strings without checking them.
std::string repair_json_text(std::string_view text);

/// Parses a body that is not streamed, repairing it like the data of an event. Error `kModel`:
/// `truncated_stream` if the body is the beginning of an answer, `protocol` if it is not JSON.
Result<Json> parse_answer(std::string_view body);

/// Parses the events of one stream. Not thread-safe.
class EventJson {
 public:
  /// Parses the data of one event, repaired if necessary. The result is valid until the next call. Error
  /// `kModel`, `protocol`: not JSON.
  Result<const Json*> parse(std::string_view data);
  /// Whether the last event differs from the one before at most in `values`, at unchanged positions.
  bool changed_only(std::span<const Json* const> values) const { return series_.changed_only(values); }

 private:
  JsonSeries series_;
};

}  // namespace praxis
