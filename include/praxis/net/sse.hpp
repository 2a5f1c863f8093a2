// Parses Server-Sent Events as model endpoints really send them. Chunks may be cut anywhere; an event that
// lies within one chunk is passed on without a copy.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Views are valid during the callback only.
struct SseEvent {
  std::string_view event;  ///< empty if the stream gave no name
  std::string_view data;   ///< several data lines are joined by LF
  std::string_view id;     ///< the last id seen in the stream
};

/// Not thread-safe. Do not feed it after an error.
class SseParser {
 public:
  using OnEvent = std::function<void(const SseEvent&)>;

  explicit SseParser(std::size_t max_event_bytes = 16 * 1024 * 1024) : max_event_bytes_(max_event_bytes) {}

  /// Calls `on_event` for each event that `bytes` complete. Lines end in LF, CRLF or CR. Skips comments, and
  /// data that begins with ':', which is a comment that some proxy has wrapped. Error: `kModel` for an event
  /// larger than the limit.
  Status feed(std::string_view bytes, const OnEvent& on_event);

  /// Ends the input: passes on an event that lacks only its blank line, recognised by data that is complete
  /// JSON or `[DONE]`. Error: `kModel`, retriable, if the input ended within an event.
  Status finish(const OnEvent& on_event);

  /// The last id seen in the stream, with which it can be taken up again; empty without one.
  const std::string& last_id() const { return id_; }
  /// How long the stream asks to wait before it is taken up again; empty if it did not say.
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }

  /// Lines that are not Server-Sent Events, such as a bare JSON error, joined by LF; the first 64 KiB.
  std::string_view stray() const { return stray_; }

 private:
  /// Text that refers to the caller's chunk, and is copied only when it must outlive that chunk.
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
  std::string line_;  ///< the beginning of a line that the last chunk did not finish
  Text event_;
  Text data_;
  std::string id_;
  std::optional<std::chrono::milliseconds> retry_;
  std::string stray_;
  bool has_data_ = false;
  /// The last chunk ended in CR, so a leading LF belongs to that line end.
  bool after_cr_ = false;
  bool at_start_ = true;  ///< a byte order mark may come
};

}  // namespace praxis
#pragma GCC visibility pop
