// The JSON that answers consist of, read with patience for what servers get wrong in it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json_series.hpp"
#include "praxis/base/json.hpp"
#include "praxis/base/result.hpp"

namespace praxis {

/// The beginning of what a server sent, fit for a message.
std::string excerpt(std::string_view bytes);

/// A body that is not streamed. Error `kModel`: `truncated_stream` when it is the beginning of an answer,
/// `protocol` when it is no JSON.
Result<Json> parse_answer(std::string_view body);

/// The events of one stream. Not thread-safe.
class EventJson {
 public:
  /// The event of `data`; it lives until the next call. Invalid UTF-8 is repaired. Error `kModel`,
  /// `protocol`: it is no JSON.
  Result<const Json*> parse(std::string_view data);
  /// Whether the last event differs from the one before at most in these values, which stand where they
  /// stood.
  bool changed_only(std::span<const Json* const> values) const { return series_.changed_only(values); }

 private:
  JsonSeries series_;
};

}  // namespace praxis
