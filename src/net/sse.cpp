#include "praxis/net/sse.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "praxis/json/json.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxStrayBytes = 64 * 1024;

Status too_large(std::size_t limit) {
  return fail(ErrorCode::kModel,
              "the event stream holds an event larger than " + std::to_string(limit) + " bytes");
}

// Finds line ends from left to right. Searches CR and LF separately, which is fast, and caches both
// positions.
class LineEnds {
 public:
  explicit LineEnds(std::string_view text) : text_(text), lf_(text.find('\n')), cr_(text.find('\r')) {}

  /// Returns the first line end at or after `from`, or npos.
  std::size_t next(std::size_t from) {
    if (lf_ < from) lf_ = text_.find('\n', from);
    if (cr_ < from) cr_ = text_.find('\r', from);
    return std::min(lf_, cr_);
  }

 private:
  const std::string_view text_;
  std::size_t lf_;
  std::size_t cr_;
};

}  // namespace

Status SseParser::feed(std::string_view bytes, const OnEvent& on_event) {
  if (bytes.empty()) return {};
  std::size_t start = after_cr_ && bytes.front() == '\n' ? 1 : 0;
  after_cr_ = false;
  LineEnds ends(bytes);
  for (std::size_t end; (end = ends.next(start)) != bytes.npos;) {
    const std::string_view tail = bytes.substr(start, end - start);
    Status taken;
    if (line_.empty()) {
      taken = take_line(tail, on_event);
    } else {
      line_.append(tail);
      taken = take_line(line_, on_event);
      event_.keep();
      data_.keep();
      line_.clear();
    }
    if (!taken) return taken;
    start = end + 1;
    if (bytes[end] != '\r') continue;
    after_cr_ = start == bytes.size();
    if (!after_cr_ && bytes[start] == '\n') ++start;
  }
  line_.append(bytes.substr(start));
  event_.keep();
  data_.keep();
  if (line_.size() + data_.view.size() > max_event_bytes_) return too_large(max_event_bytes_);
  return {};
}

Status SseParser::finish(const OnEvent& on_event) {
  if (!line_.empty()) {
    if (Status taken = take_line(line_, on_event); !taken) return taken;
  }
  if (!has_data_) return {};
  if (data_.view != "[DONE]" && !parse_json(data_.view)) {
    return fail(ErrorCode::kModel, "the event stream ended in the middle of an event", true);
  }
  dispatch(on_event);
  line_.clear();
  return {};
}

Status SseParser::take_line(std::string_view line, const OnEvent& on_event) {
  if (at_start_ && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  at_start_ = false;
  if (!line.empty()) {
    take_field(line);
  } else if (has_data_) {
    dispatch(on_event);
  } else {
    reset_event();
  }
  if (event_.view.size() + data_.view.size() > max_event_bytes_) return too_large(max_event_bytes_);
  return {};
}

void SseParser::take_field(std::string_view line) {
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (!value.starts_with(':')) add_data(value);
  } else if (name == "event") {
    event_.view = value;
  } else if (name == "id") {
    if (value.find('\0') == value.npos) id_.assign(value);
  } else if (name == "retry") {
    std::uint32_t wait = 0;
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), wait);
    if (failed == std::errc() && end == value.data() + value.size()) retry_ = std::chrono::milliseconds(wait);
  } else if (!name.empty()) {
    if (!stray_.empty()) stray_ += '\n';
    stray_.append(line.substr(0, kMaxStrayBytes - std::min(stray_.size(), kMaxStrayBytes)));
  }
}

void SseParser::add_data(std::string_view value) {
  if (has_data_) {
    data_.keep();
    data_.kept.append("\n").append(value);
    data_.view = data_.kept;
  } else {
    data_.view = value;
  }
  has_data_ = true;
}

void SseParser::dispatch(const OnEvent& on_event) {
  on_event({event_.view, data_.view, id_});
  reset_event();
}

void SseParser::reset_event() {
  event_.view = {};
  data_.view = {};
  has_data_ = false;
}

}  // namespace praxis
