// Finds the tool calls in a model's text, for models without native tool calls:
//
//     <tool_call>
//     {"name": "add", "arguments": {"x": 2, "y": 3}}
//     </tool_call>
//
// Weak models often deviate, so the reader also accepts a call in a code fence instead of the tags or around
// them, a call without its end tag, and slightly damaged JSON. Pure: no I/O, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis::text_tools {

/// A call as it was found. For an unreadable call, `arguments` is the raw text, and either it is not JSON or
/// `name` is empty.
struct FoundCall {
  std::string name;
  std::string arguments;  ///< JSON text
};
using Piece = std::variant<std::string, FoundCall>;

/// Repairs typical damage in one pass: single quotes, raw control characters and stray backslashes in
/// strings, Python constants, superfluous commas, and missing or surplus closing brackets. `std::nullopt` if
/// the result is not JSON; an unterminated string is never repaired.
std::optional<Json> mend_json(std::string_view text);

/// Reads one streamed text; the result does not depend on where the text is split. Not thread-safe.
class CallReader {
 public:
  /// `tools`: names of the known tools; only their calls are recognised without tags.
  explicit CallReader(std::vector<std::string> tools) : tools_(std::move(tools)) {}

  /// Adds bytes and returns what is decided. Text is returned at once unless it may be part of a call.
  std::vector<Piece> feed(std::string_view bytes);
  /// Returns the rest, after the last byte.
  std::vector<Piece> finish();

  /// What was repaired or removed.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  enum class Mode : std::uint8_t { kText, kTagged, kFenced, kDeaf };
  /// What starts at a given byte.
  enum class Sign : std::uint8_t { kNone, kPerhaps, kTag, kFence, kFencedTag, kResult };
  struct Opening {
    Sign sign = Sign::kNone;
    std::size_t length = 0;  ///< up to the call's JSON, or to the tag in the fence
  };

  /// Position of the scanner in the JSON of a call.
  struct Follower {
    std::size_t at = 0;     ///< the next byte
    std::size_t depth = 0;  ///< bracket nesting
    char quote = 0;         ///< the quote character of the string that `at` is in; 0: not in a string
    bool begun = false;
    bool ended = false;   ///< the brackets are closed, right before `at`
    bool untied = false;  ///< the end tag stands at `at` although brackets are open
  };

  void follow(bool tagged);
  Opening tag_at(std::string_view text) const;
  Opening opening_at(std::string_view text) const;
  // These return whether more can be decided.
  bool read_text(bool last);
  bool read_after_fenced(bool last);
  bool read_tagged(bool last);
  bool read_fenced(bool last);
  void read_all(bool last);
  void open(const Opening& opening);
  void close(std::size_t length);
  bool is_offered(const Json& call) const;
  void say(std::string_view text);
  void add_call(FoundCall found);
  void add_unreadable(std::string_view body);
  void add_calls(std::string_view body);

  const std::vector<std::string> tools_;
  Mode mode_ = Mode::kText;
  std::string buffer_;     ///< undecided bytes, starting at the opening of a call
  std::size_t body_ = 0;   ///< offset in `buffer_` at which the call's JSON begins
  Follower follower_;      ///< relative to `body_`
  bool in_fence_ = false;  ///< after a call in a code fence whose end has not arrived
  bool said_ = false;      ///< there was text since the last call
  std::string blank_;      ///< white space before it
  std::size_t calls_ = 0;
  std::vector<Piece> pieces_;
  std::vector<std::string> warnings_;
};

}  // namespace praxis::text_tools
