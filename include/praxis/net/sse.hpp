// Server-Sent Events as model endpoints really send them. The bytes may be cut anywhere; an event that lies
// within one chunk is handed on without a copy.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis {

/// Views are valid during the callback only.
struct SseEvent {
  std::string_view event;  ///< empty when the stream gave no name
  std::string_view data;   ///< several data lines are joined by LF
  std::string_view id;     ///< the last one seen in the stream
};

/// Not thread-safe. After an error it must not be fed again.
class SseParser {
 public:
  using OnEvent = std::function<void(const SseEvent&)>;

  explicit SseParser(std::size_t max_event_bytes = 16 * 1024 * 1024) : max_event_bytes_(max_event_bytes) {}

  /// Calls `on_event` for each event that `bytes` complete. Lines end in LF, CRLF or CR; comments are
  /// skipped, and so is data that begins with ':', a comment some proxy has wrapped. Error: `kModel` for an
  /// event larger than the limit.
  Status feed(std::string_view bytes, const OnEvent& on_event);

  /// The input has ended: hands on an event that lacks only its blank line, known by data that is complete
  /// JSON or
  /// `[DONE]`. Error: `kModel`, retriable, when the input ended within an event.
  Status finish(const OnEvent& on_event);

  /// Lines that are not Server-Sent Events at all, such as a bare JSON error, joined by LF; the first 64 KiB.
  std::string_view stray() const { return stray_; }

 private:
  /// Text that stays in the caller's chunk as long as that lives and moves here when it must outlive it.
  struct Text {
    std::string_view view;
    std::string kept;

    void keep() {
      if (view.data() != kept.data()) kept.assign(view);
      view = kept;
    }
  };

  Status take_line(std::string_view line, const OnEvent& on_event);
  void take_field(std::string_view line);
  void add_data(std::string_view value);
  void dispatch(const OnEvent& on_event);
  void reset_event();

  const std::size_t max_event_bytes_;
  std::string line_;  ///< the beginning of a line that the last chunk left unfinished
  Text event_;
  Text data_;
  std::string id_;
  std::string stray_;
  bool has_data_ = false;
  bool after_cr_ = false;  ///< the last chunk ended in CR: an LF that comes next belongs to it
  bool at_start_ = true;   ///< a byte order mark may come
};

}  // namespace praxis
