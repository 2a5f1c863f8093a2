#include "models/answer_json.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "models/vendor_error.hpp"

namespace praxis {
namespace {

const Json kNull;
constexpr std::size_t kEscape = 6;  // characters of `\uXXXX`

/// The UTF-16 code unit of the escape at the front of `text`; 0 if there is no escape.
unsigned unit_at_front(std::string_view text) {
  if (text.size() < kEscape || !text.starts_with("\\u")) return 0;
  unsigned unit = 0;
  const char* end = text.data() + kEscape;
  return std::from_chars(text.data() + 2, end, unit, 16).ptr == end ? unit : 0;
}

bool leads(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool trails(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

std::string repair_json_text(std::string_view text) {
  std::string out = repair_utf8(text);
  for (std::size_t at = 0; (at = out.find('\\', at)) != out.npos;) {
    const std::string_view rest = std::string_view(out).substr(at);
    const unsigned unit = unit_at_front(rest);
    const bool pair = leads(unit) && trails(unit_at_front(rest.substr(kEscape)));
    if ((leads(unit) && !pair) || trails(unit)) out.replace(at, kEscape, "\\ufffd");
    at += pair ? 2 * kEscape : unit != 0 ? kEscape : 2;
  }
  return out;
}

std::string excerpt(std::string_view bytes) {
  constexpr std::size_t kLength = 200;
  return repair_utf8(bytes.substr(0, kLength)) + (bytes.size() > kLength ? "..." : "");
}

Status AnswerShapes::read(std::string_view body, const std::function<Status(const Json&)>& use) {
  if (body.size() <= JsonShapes::kMostBytes && !busy_.test_and_set(std::memory_order_acquire)) {
    const auto json = shapes_.parse(body);
    const ParsedEvent borrowed(json ? **json : kNull, &busy_);
    if (json) return use(*borrowed);
  }
  Result<Json> json = parse_json(body);
  if (!json) json = parse_json(repair_json_text(body));
  if (json) return use(*json);
  const bool cut = (body.starts_with('{') || body.starts_with('[')) && parse_partial_json(body);
  return fail(
      cut ? model_error(ErrorKind::kTruncatedStream, "truncated_stream: the answer ends inside its JSON")
          : model_error(ErrorKind::kProtocol, "protocol: the answer is not JSON: " + excerpt(body)));
}

std::optional<ParsedEvent> AnswerShapes::borrow(std::string_view data, std::size_t& shape) {
  if (data.size() > JsonShapes::kMostBytes || busy_.test_and_set(std::memory_order_acquire))
    return std::nullopt;
  const auto json = shapes_.parse(data);
  ParsedEvent borrowed(json ? **json : kNull, &busy_);
  if (!json) return std::nullopt;
  shape = shapes_.shape();
  return borrowed;
}

/// Leaves a run of events of one shape to the series of the stream, which also sees what has changed.
std::optional<ParsedEvent> EventJson::parse_shared(std::string_view data) {
  constexpr int kRun = 4;
  std::size_t shape = 0;
  auto event = shared_ ? shared_->borrow(data, shape) : std::nullopt;
  if (!event) return std::nullopt;
  in_row_ = in_row_ > 0 && shape == shape_ ? in_row_ + 1 : 1;
  shape_ = shape;
  if (in_row_ < kRun) return event;
  in_row_ = 0;
  in_series_ = 1;
  series_.begin(Json(**event), data);
  return ParsedEvent(series_.value());
}

Result<ParsedEvent> EventJson::parse(std::string_view data) {
  if (series_.adapt(data)) {
    in_row_ = 0;
    in_series_ = std::min(in_series_ + 1, 2);
    return ParsedEvent(series_.value());
  }
  in_series_ = 0;
  if (auto event = parse_shared(data)) return *std::move(event);
  in_row_ = 0;
  in_series_ = 1;
  auto event = series_.parse(data);
  if (!event) event = series_.parse(repair_json_text(data));
  if (event) return ParsedEvent(**event);
  return fail(
      model_error(ErrorKind::kProtocol, "protocol: an event of the answer is not JSON: " + excerpt(data)));
}

}  // namespace praxis
