// Parses the JSON of answers and tolerates the encoding errors that servers make.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "json/series.hpp"
#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

/// The first bytes of `bytes`, repaired to UTF-8, for use in an error message.
std::string excerpt(std::string_view bytes);

/// Replaces invalid UTF-8 and escapes of unpaired surrogates by U+FFFD. Such text comes from servers that
/// split text at UTF-16 units, or that emit Python strings without checking them.
std::string repair_json_text(std::string_view text);

/// A parsed event: valid as long as this object, and until the next one is parsed.
class ParsedEvent {
 public:
  explicit ParsedEvent(const Json& value, std::atomic_flag* borrowed = nullptr)
      : value_(&value), borrowed_(borrowed) {}
  ParsedEvent(ParsedEvent&& other) noexcept
      : value_(other.value_), borrowed_(std::exchange(other.borrowed_, nullptr)) {}
  ParsedEvent& operator=(ParsedEvent&&) = delete;
  ~ParsedEvent() {
    if (borrowed_ != nullptr) borrowed_->clear(std::memory_order_release);
  }
  const Json& operator*() const { return *value_; }

 private:
  const Json* value_;
  std::atomic_flag* borrowed_;  ///< cleared at the end; null for none
};

/// The shapes of the answers of one endpoint, and of the events of its streams: there are few, so its
/// sessions share them. One caller at a time uses them; for others the parser does. Thread-safe.
class AnswerShapes {
 public:
  /// Parses a body that is not streamed, repairing it like the data of an event, and has `use` read it. Error
  /// `kModel`: `truncated_stream` if the body is the beginning of an answer, `protocol` if it is not JSON;
  /// else that of `use`.
  Status read(std::string_view body, const std::function<Status(const Json&)>& use);
  /// Parses the data of an event and names its shape in `shape`. `std::nullopt`: not JSON, too long, or the
  /// shapes are in use.
  std::optional<ParsedEvent> borrow(std::string_view data, std::size_t& shape);

 private:
  std::atomic_flag busy_;
  JsonShapes shapes_;
};

/// Parses the events of one stream. Not thread-safe.
class EventJson {
 public:
  /// `shared`: of the endpoint; null for none.
  explicit EventJson(std::shared_ptr<AnswerShapes> shared = nullptr) : shared_(std::move(shared)) {}
  /// Parses the data of one event, repaired if necessary. Error `kModel`, `protocol`: not JSON.
  Result<ParsedEvent> parse(std::string_view data);
  /// Whether the last event differs from the one before at most in `values`, at unchanged positions.
  bool changed_only(std::span<const Json* const> values) const {
    return in_series_ > 1 && series_.changed_only(values);
  }

 private:
  std::optional<ParsedEvent> parse_shared(std::string_view data);

  std::shared_ptr<AnswerShapes> shared_;
  std::size_t shape_ = 0;  ///< of the last event that the shared shapes have parsed
  int in_row_ = 0;         ///< events of that shape in a row, up to the last event
  int in_series_ = 0;      ///< events in a row, up to the last event, that `series_` has parsed; at most 2
  JsonSeries series_;      ///< of a run of events of one shape
};

}  // namespace praxis
