// The JSON that answers consist of, read with patience for what servers get wrong in it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "json/series.hpp"
#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

/// The beginning of what a server sent, fit for a message.
std::string excerpt(std::string_view bytes);

/// JSON text with U+FFFD for what makes a text unfit to be one: invalid UTF-8, and escapes of half a
/// character, as servers send them that cut text by UTF-16 units or write any string of Python's as it is.
std::string repair_json_text(std::string_view text);

/// A body that is not streamed, repaired like the text of an event. Error `kModel`: `truncated_stream` when
/// it is the beginning of an answer, `protocol` when it is no JSON.
Result<Json> parse_answer(std::string_view body);

/// The events of one stream. Not thread-safe.
class EventJson {
 public:
  /// The event of `data`; it lives until the next call. Text is repaired where it has to be. Error
  /// `kModel`, `protocol`: it is no JSON.
  Result<const Json*> parse(std::string_view data);
  /// Whether the last event differs from the one before at most in these values, which stand where they
  /// stood.
  bool changed_only(std::span<const Json* const> values) const { return series_.changed_only(values); }

 private:
  JsonSeries series_;
};

}  // namespace praxis
